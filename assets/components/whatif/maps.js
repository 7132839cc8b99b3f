// Three pictures of one head: before, after and what changed, all on fixed scales. A click cuts an edge.

import { signedColour, signedGradient } from "../shared/colour.js";
import { el } from "../shared/dom.js";
import { exact, fixed } from "../shared/numbers.js";
import { Heatmap } from "../shared/heatmap.js";

const MARKS = [-1, -0.25, 0, 0.25, 1];
const minus = (value) => String(value).replace("-", "−");
// Shaded by the square root, like the weights: small differences stay visible.
const rooted = (value) => Math.sign(value) * Math.sqrt(Math.abs(value));

export class AfterMap extends Heatmap {
  update(model) {
    const isCut = ({ place: [i, j] }) => model.cut.some(([row, column]) => row === i && column === j);
    this.wasCut ??= new Set();
    // A cell is painted anew where it was cut or mended, even if it is masked before and after.
    this.isCut = isCut;
    this.cells.flat().forEach((cell) => {
      if (isCut(cell) !== this.wasCut.has(cell)) cell.painted = null;
    });
    super.update(model);
    this.wasCut = new Set(this.cells.flat().filter(isCut));
  }

  paintCell(cell, weight, state) {
    super.paintCell(cell, weight, state);
    if (!this.isCut(cell)) return;
    cell.classList.add("severed");
    cell.textContent = "✂";
    cell.setAttribute("aria-label", this.model.strings.cell_cut);
  }
}

export class DifferenceMap extends Heatmap {
  constructor(calls) {
    super(calls);
    const marks = MARKS.map((mark) => el("span", { class: "mark", style: { left: `${(rooted(mark) + 1) * 50}%` }, text: minus(mark) }));
    this.legend.lastElementChild.replaceChildren(...marks);
  }

  update(model) {
    super.update(model);
    this.legend.firstElementChild.style.background = `linear-gradient(to right, ${signedGradient(model.theme)})`;
  }

  paintCell(cell, value, state) {
    super.paintCell(cell, 0, state);
    if (state !== "open") return;
    const { fill, ink } = signedColour(rooted(value), 1, this.model.theme);
    cell.style.backgroundColor = fill;
    cell.style.color = ink;
    const points = Math.round(value * 100);
    cell.textContent = this.figures && points !== 0 ? fixed(points, 0) : "";
    cell.setAttribute("aria-label", exact(value));
  }
}
