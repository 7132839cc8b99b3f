// Both rows of the asking word on one scale, aligned word by word, and their difference. Too narrow for a column per
// word: a line per word.

import { signedColour, weightColour } from "../shared/colour.js";
import { el, phrase } from "../shared/dom.js";
import { exact, fixed, percent } from "../shared/numbers.js";
import { named, spoken } from "../shared/words.js";
import { isChanged } from "./pairs.js";

const points = (value) => `${value > 0 ? "+" : ""}${fixed(value * 100, 1)}`;

function wordCell(frame, which, pair, theme) {
  const side = frame.sides[which];
  const position = pair[which];
  if (position === null) {
    return el("td", { class: "absent", title: frame.strings.absent }, el("span", { "aria-hidden": "true", text: "–" }), el("span", { class: "unseen", text: frame.strings.absent }));
  }
  const weight = side.token === null ? null : frame.arrays[`row_${which}`].at(0, position);
  const { fill, ink } = weight === null ? { fill: "", ink: "" } : weightColour(weight, theme);
  const changed = isChanged(frame.sides, pair);
  return el("td", {
    class: `weight ${changed ? "changed" : ""} ${side.askers === null && position === side.token ? "asking" : ""}`,
    title: weight === null ? side.tokens[position].shown : `${spoken(side.tokens, position)}: ${exact(weight)}`,
    style: { "background-color": fill, color: ink },
    "data-position": position,
  },
  el("div", { class: "pair" }, el("span", { class: "pair-word" }, changed ? el("span", { class: "mark", text: "≠ " }) : null, named(side.tokens, position)),
  el("span", { class: "share", text: weight === null ? "" : percent(weight) })));
}

function differenceCell(frame, k, theme) {
  const whole = frame.sides.every((side) => side.token !== null);
  const value = whole ? frame.arrays.difference.at(0, k) : NaN;
  if (Number.isNaN(value)) {
    return el("td", { class: "absent", title: frame.strings.no_difference }, el("span", { "aria-hidden": "true", text: "–" }), el("span", { class: "unseen", text: frame.strings.no_difference }));
  }
  const { fill, ink } = signedColour(value, 1, theme);
  return el("td", { class: "difference", title: phrase(frame.strings.points, { points: exact(value * 100) }), style: { "background-color": fill, color: ink }, text: points(value) });
}

function heads(frame, scope) {
  const { strings, sides } = frame;
  const side = (name, which) => {
    const { token, tokens, askers } = sides[which];
    const parts = token === null ? null : named(askers ?? tokens, token, "q");
    const [before, after] = strings.asker.split("{asker}");
    return el("th", { scope }, el("span", { class: "side", text: name }), parts ? el("small", {}, before, parts, after) : null);
  };
  return [side(strings.side_a, 0), side(strings.side_b, 1), el("th", { scope }, el("span", { class: "side", text: strings.difference }))];
}

/** lines: "across" (a column per word) or "down" (a line per word). */
export function table(frame, theme, lines) {
  const cells = frame.pairs.map((pair, k) => [wordCell(frame, 0, pair, theme), wordCell(frame, 1, pair, theme), differenceCell(frame, k, theme)]);
  const attributes = { class: `pairs ${lines}`, "aria-label": frame.strings.table_name };
  if (lines === "down") {
    return el("table", attributes, el("thead", {}, el("tr", {}, heads(frame, "col"))), el("tbody", {}, cells.map((row) => el("tr", {}, row))));
  }
  const titles = heads(frame, "row");
  return el("table", attributes, el("tbody", {}, titles.map((title, line) => el("tr", {}, title, cells.map((cell) => cell[line])))));
}
