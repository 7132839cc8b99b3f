// All heads on one canvas, with a focusable place over each: rows are layers, columns are heads.

import { el, phrase } from "../shared/dom.js";
import { fillTo } from "../shared/words.js";
import { brush } from "./paint.js";

const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
const BAR = 4;

export class Grid {
  /** calls: preview(index), leave(), open(index, isTouch) */
  constructor(calls) {
    this.calls = calls;
    this.home = 0;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.columns = el("div", { class: "line tops", role: "row" });
    this.corner = el("span", { class: "corner", role: "columnheader" });
    this.lines = el("div", { class: "lines" });
    this.frame = el("div", { class: "heads-frame", role: "grid" }, this.canvas, this.columns, this.lines);
    this.node = el("div", { class: "heads-scroll" }, this.frame);
    this.listen();
  }

  listen() {
    const at = (event) => event.target.closest?.(".head")?.index ?? null;
    const on = (name, act) => this.frame.addEventListener(name, (event) => at(event) !== null && act(at(event), event));
    on("pointerover", (index, event) => event.pointerType !== "touch" && this.calls.preview(index));
    on("focusin", (index) => {
      this.settle(index);
      if (!this.touched) this.calls.preview(index);
    });
    on("pointerdown", (_, event) => (this.touched = event.pointerType === "touch"));
    on("click", (index) => {
      this.settle(index);
      this.calls.open(index, this.touched);
    });
    this.frame.addEventListener("keydown", (event) => this.press(event));
    // A finger that is lifted leaves, too; what it tapped stays.
    this.frame.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.calls.leave());
  }

  /** model: { frame, heads, levels, colours }; heads: [{ layer, head, row, column, start }] in order. */
  update(model) {
    this.model = model;
    const { strings, layers } = model.frame;
    const wide = Math.max(...layers.map((layer) => layer.n_heads));
    this.frame.setAttribute("aria-label", strings.grid_name);
    this.frame.setAttribute("aria-rowcount", layers.length + 1);
    this.frame.setAttribute("aria-colcount", wide + 1);
    this.corner.replaceChildren(el("span", { text: `${strings.axis_layer} ↓` }), el("span", { text: `${strings.axis_head} →` }));
    this.columns.replaceChildren(this.corner, ...Array.from({ length: wide }, (_, h) => el("span", { class: "top", role: "columnheader", text: h })));
    this.build(layers);
    this.layout();
    this.settle(Math.min(this.home, this.places.length - 1));
  }

  build(layers) {
    let index = 0;
    const rows = fillTo(this.lines, layers.length, () => el("div", { class: "line", role: "row" }, el("span", { class: "side", role: "rowheader" })));
    this.places = rows.flatMap((row, i) => {
      row.firstElementChild.textContent = layers[i].number;
      return fillTo(row, layers[i].n_heads + 1, () => el("span", { class: "head", role: "gridcell" })).slice(1).map((place) => {
        place.index = index;
        const { layer, head } = this.model.heads[index];
        Object.assign(place.dataset, { layer, head });
        place.setAttribute("aria-label", this.model.name(index));
        index += 1;
        return place;
      });
    });
  }

  /** Sizes from the room that there is: as large as fits the window, but never too small to be looked at. */
  layout() {
    const { layers, n_queries: nQueries, n_keys: nKeys } = this.model.frame;
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    const wide = this.columns.children.length - 1;
    const ratio = clamp(nQueries / nKeys, 0.4, 2.5);
    const label = Math.ceil(size * (this.node.clientWidth < size * 40 ? 2.4 : 3.4));
    const byWidth = (this.node.clientWidth - label - 2) / wide;
    const byHeight = (window.innerHeight - size * 19) / layers.length / ratio;
    const fitting = Math.min(byWidth, Math.max(byHeight, size * 2.9));
    this.pitch = Math.floor(clamp(fitting, size * 1.5, (size * 14) / Math.max(1, ratio)));
    this.tall = Math.round(this.pitch * ratio);
    this.gap = this.pitch > size * 2.6 ? 6 : 3;
    const style = { "--pitch": `${this.pitch}px`, "--tall": `${this.tall}px`, "--label": `${label}px`, "--gap": `${this.gap}px` };
    for (const [name, value] of Object.entries(style)) this.frame.style.setProperty(name, value);
    this.frame.style.width = `${label + wide * this.pitch}px`;
    this.node.dataset.scrolls = label + wide * this.pitch > this.node.clientWidth;
    this.label = label;
    this.paint();
  }

  paint() {
    const { frame, heads, levels, colours, mark } = this.model;
    const scale = Math.max(1, Math.round(window.devicePixelRatio));
    const wide = this.columns.children.length - 1;
    const bar = mark === null ? 0 : BAR + 2;
    const inner = { width: (this.pitch - this.gap) * scale, height: (this.tall - this.gap - bar) * scale };
    const image = new ImageData(wide * this.pitch * scale, frame.layers.length * this.tall * scale);
    const put = brush(image, frame, inner, colours, scale);
    heads.forEach(({ row, column, start }) => put({ levels, start, columns: frame.columns }, column * this.pitch * scale, row * this.tall * scale));
    Object.assign(this.canvas, { width: image.width, height: image.height });
    Object.assign(this.canvas.style, { width: `${image.width / scale}px`, height: `${image.height / scale}px` });
    const pen = this.canvas.getContext("2d");
    pen.putImageData(image, 0, 0);
    if (mark !== null) this.bars(pen, scale);
  }

  /** Under each head how large one measure is: the whole width is 1. */
  bars(pen, scale) {
    const { heads, mark, valueOf, ink, line } = this.model;
    pen.scale(scale, scale);
    heads.forEach(({ row, column }, index) => {
      const width = this.pitch - this.gap;
      const [left, top] = [column * this.pitch, (row + 1) * this.tall - this.gap - BAR];
      const value = valueOf(index, mark);
      pen.fillStyle = line;
      if (value !== null) pen.fillRect(left, top + BAR - 1, width, 1);
      pen.fillStyle = ink;
      if (value !== null) pen.fillRect(left, top, width * clamp(value, 0, 1), BAR);
    });
  }

  /** Which head is chosen, and which one is looked at. */
  show(chosen, shown) {
    this.places.forEach((place, index) => {
      place.classList.toggle("chosen", index === chosen);
      place.classList.toggle("shown", index === shown);
      if (index === chosen) place.setAttribute("aria-selected", "true");
      else place.removeAttribute("aria-selected");
    });
    const { row, column } = this.model.heads[shown];
    [...this.lines.children].forEach((line, i) => line.firstElementChild.classList.toggle("lit", i === row));
    [...this.columns.children].forEach((top, h) => top.classList.toggle("lit", h === column + 1));
  }

  settle(index) {
    if (this.home !== index) this.places[this.home]?.removeAttribute("tabindex");
    this.home = index;
    this.places[index].setAttribute("tabindex", "0");
  }

  focus(index) {
    this.settle(index);
    this.places[index].focus({ preventScroll: true });
    this.places[index].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  press(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.calls.open(this.home, false);
      return;
    }
    const { layers } = this.model.frame;
    const { row, column } = this.model.heads[this.home];
    const last = layers[row].n_heads - 1;
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, last], PageUp: [0, column], PageDown: [layers.length - 1, column],
    }[event.key];
    if (!to || to[0] < 0 || to[0] >= layers.length || to[1] < 0 || to[1] > last && to[0] === row) return;
    event.preventDefault();
    this.touched = false;
    this.focus(this.model.indexOf(to[0], Math.min(to[1], layers[to[0]].n_heads - 1)));
  }
}

/** The name of a head as it is read aloud. */
export const spokenName = (strings, { layer, head }) => phrase(strings.cell_name, { layer, head });
