// The motion between two steps: an outlined row travels from where it stood to the product that it enters.
import { el, stillness } from "../shared/dom.js";

const LENGTH = 380;
// Which band of which matrix flies where when the reader leaves a step forwards.
const FLIGHTS = {
  project: [["q", "row-q", "scores", "row-q"], ["k", "row-k", "k", "col-k"]],
  score: [["scores", "row-q", "scaled", "row-q"]],
  softmax: [["weights", "row-q", "weights", "row-q"], ["weights", "row-q", "output", "row-q"]],
};

function bandRect(stage, matrix, band) {
  const frame = stage.querySelector(`[data-matrix="${matrix}"] .matrix-frame`)?.getBoundingClientRect();
  const node = stage.querySelector(`[data-matrix="${matrix}"] [data-band="${band}"]`)?.getBoundingClientRect();
  if (!frame || !node) return null;
  // A band runs as far as its matrix; only the part inside the scroll frame is seen.
  const left = Math.max(frame.left, node.left);
  const top = Math.max(frame.top, node.top);
  return { left, top, width: Math.min(frame.right, node.right) - left, height: Math.min(frame.bottom, node.bottom) - top };
}

/** Where every lit band stands now. */
export function marks(stage) {
  const places = new Map();
  for (const flights of Object.values(FLIGHTS)) {
    for (const [matrix, band] of flights) places.set(`${matrix} ${band}`, bandRect(stage, matrix, band));
  }
  return places;
}

export function fly(view, stage, before, from) {
  if (stillness()) return;
  const origin = view.getBoundingClientRect();
  for (const [matrix, band, target, goal] of FLIGHTS[before] ?? []) {
    const start = from.get(`${matrix} ${band}`);
    const end = bandRect(stage, target, goal);
    if (!start || !end || start.width <= 0 || end.width <= 0) continue;
    const ghost = el("div", { class: `ghost tone-${goal.split("-")[1]}`, "aria-hidden": "true" });
    view.append(ghost);
    const frame = (box) => ({
      left: `${box.left - origin.left}px`, top: `${box.top - origin.top}px`, width: `${box.width}px`, height: `${box.height}px`,
    });
    ghost.animate([{ ...frame(start), opacity: 0.9 }, { ...frame(end), opacity: 0.5 }], { duration: LENGTH, easing: "ease-in-out" })
      .finished.finally(() => ghost.remove()).catch(() => {});
  }
}
