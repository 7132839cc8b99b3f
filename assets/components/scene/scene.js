// The pictures of one scene of a story or lesson: numbers that Python worked out, drawn. Nothing is computed here.

import { el } from "../shared/dom.js";
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";
import { curve } from "./curve.js";
import { matrix } from "./matrix.js";
import { bars, flow, numbers, tokens } from "./parts.js";
import { plane } from "./plane.js";

const KINDS = { bars, curve, flow, matrix, numbers, plane, tokens };

/** Each picture's arrays stand under "<its place>.<name>". */
function drawn(picture, place, frame, theme) {
  const arrays = Object.fromEntries(picture.arrays.map((name) => [name, frame.arrays[`${place}.${name}`]]));
  const body = KINDS[picture.kind]({ ...picture, arrays, theme, strings: frame.strings });
  return reachable(el("figure", { class: `picture ${picture.kind}` }, el("figcaption", { text: picture.label }), body), picture.label);
}

/** What may scroll sideways is reached by the keyboard, too. */
function reachable(figure, label) {
  for (const room of figure.querySelectorAll(".scroll")) {
    room.tabIndex = 0;
    room.setAttribute("role", "group");
    room.setAttribute("aria-label", label);
  }
  return figure;
}

export default function scene({ parentElement, data }) {
  const state = mounted(parentElement, ["scene/scene.css"]);
  const frame = unpack(data);
  state.latest = frame.revision;
  state.ready.then(() => {
    if (state.latest !== frame.revision) return;
    const theme = frame.paper ? "light" : state.theme;
    Object.assign(state.view.dataset, { theme, projector: frame.projector, paper: frame.paper });
    state.view.replaceChildren(...frame.pictures.map((picture, place) => drawn(picture, place, frame, theme)));
    state.view.dataset.revision = frame.revision;
  });
}
