// W_Q, W_K, W_V (and W_O) of one run as small signed grids. One range for each matrix over its whole film so far.

import { el, phrase } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { Grid } from "./grid.js";
import { signedShade } from "./shades.js";

const NAME = /^layers\.(\d+)\.w_([qkvo])\.(\d+)$/;

function nameOf(text) {
  const known = NAME.exec(text);
  if (!known) return { layer: null, head: null, symbol: [text], plain: text, role: "" };
  const part = known[2].toUpperCase();
  return { layer: Number(known[1]), head: Number(known[3]), symbol: ["W", el("sub", { text: part })], plain: `W_${part}`, role: known[2] };
}

function whereOf({ matrices, strings }, { layer, head }) {
  const several = matrices.some((name) => name.endsWith(".1"));
  return phrase(several ? strings.layer_head_name : strings.layer_name, { layer, head });
}

class Weights {
  constructor(model, m, { rows, cols }, calls) {
    this.m = m;
    this.name = nameOf(model.matrices[m]);
    this.where = this.name.layer === null ? "" : whereOf(model, this.name);
    this.grid = new Grid(rows, cols, {
      look: (cell) => calls.look(cell && { kind: "matrix", m, cell }),
      pin: (cell) => calls.pin({ kind: "matrix", m, cell }),
    });
    this.grid.node.setAttribute("aria-label", phrase(model.strings.grid_name, { name: `${this.name.plain} ${this.where}` }));
    this.range = el("span", { class: "matrix-reach" });
    const caption = el("figcaption", {}, el("b", { class: `symbol ${this.name.role}` }, this.name.symbol),
      el("div", { class: "quiet", text: `${rows} × ${cols}` }), this.range);
    this.node = el("figure", { class: "weights" }, caption, this.grid.node);
    this.node.dataset.matrix = model.matrices[m];
  }

  layout(size) {
    const fit = (count, room, most) => Math.max(Math.min(Math.floor((room / count) * 2) / 2, most), 1);
    this.grid.size(fit(this.grid.cols, size * 4.5, size * 0.6), fit(this.grid.rows, size * 7.5, size * 0.65));
  }

  paint(frame, reach, theme) {
    const matrix = frame.matrices[this.m];
    if (matrix) this.grid.paint(matrix.data, signedShade(reach, theme));
    const text = `±${fixed(reach, 2)}`;
    if (this.range.textContent !== text) this.range.textContent = text;
  }
}

export class Matrices {
  constructor(model, frame, calls) {
    const { strings, matrices } = model;
    this.all = matrices.flatMap((_, m) => (frame.matrices[m] ? [new Weights(model, m, frame.matrices[m], calls)] : []));
    this.node = el("section", { class: "matrices" }, el("h3", {}, strings.matrices_title, " ", el("span", { class: "quiet aside", text: strings.matrices_aside })),
      el("div", { class: "matrix-rack" }, this.layers()));
    this.node.hidden = this.all.length === 0;
  }

  /** The matrices of one layer, or of one head where there are several, stay together. */
  layers() {
    return [...new Set(this.all.map(({ where }) => where))].map((where) => {
      const matrices = this.all.filter((weights) => weights.where === where).map(({ node }) => node);
      return el("div", { class: "matrix-layer" }, el("p", { class: "layer-name", text: where }), el("div", { class: "layer-rack" }, matrices));
    });
  }

  layout(size) {
    for (const weights of this.all) weights.layout(size);
  }

  paint(frame, reach, theme) {
    for (const weights of this.all) weights.paint(frame, reach[weights.m], theme);
  }

  light(look) {
    for (const { m, grid } of this.all) {
      const here = look?.kind === "matrix" && look.m === m;
      if (here || !grid.looked.hidden) grid.light(here ? look.cell : null);
    }
  }

  find(m) {
    return this.all.find((weights) => weights.m === m) ?? null;
  }
}
