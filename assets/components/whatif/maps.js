// Three pictures of one head: before, after and what changed, all on fixed scales. A click cuts an edge. Of few words
// each cell is an element; the heads of longer texts are painted.

import { pixel, signedColour, signedGradient } from "../shared/colour.js";
import { el } from "../shared/dom.js";
import { HeatCanvas } from "../shared/heat_canvas.js";
import { exact, fixed } from "../shared/numbers.js";
import { Heatmap } from "../shared/heatmap.js";

const MARKS = [-1, -0.25, 0, 0.25, 1];
const SHADES = 256; // On either side of nothing.
const minus = (value) => String(value).replace("-", "−");
// Shaded by the square root, like the weights: small differences stay visible.
const rooted = (value) => Math.sign(value) * Math.sqrt(Math.abs(value));

/** A picture of a head whose scale runs from −1 to 1. */
const Signed = (Picture) => class extends Picture {
  constructor(calls) {
    super(calls);
    const marks = MARKS.map((mark) => el("span", { class: "mark", style: { left: `${(rooted(mark) + 1) * 50}%` }, text: minus(mark) }));
    this.legend.lastElementChild.replaceChildren(...marks);
  }

  update(model) {
    super.update(model);
    this.legend.firstElementChild.style.background = `linear-gradient(to right, ${signedGradient(model.theme)})`;
  }
};

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

export class DifferenceMap extends Signed(Heatmap) {
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

export class AfterCanvas extends HeatCanvas {
  axes(size) {
    super.axes(size);
    this.ticks.append(...this.model.cut.map(([row, column]) => el("span", { class: "severed-edge", style: this.box(row, column, 1, 1) })));
  }
}

export class DifferenceCanvas extends Signed(HeatCanvas) {
  inks() {
    const [, hatch] = super.inks();
    const { theme } = this.model;
    const shades = Array.from({ length: 2 * SHADES + 1 }, (_, k) => pixel(signedColour(k / SHADES - 1, 1, theme).fill));
    return [(value) => shades[Math.round((rooted(value) + 1) * SHADES)], hatch];
  }
}
