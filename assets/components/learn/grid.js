// A matrix on a canvas, one pixel for each cell, which the browser enlarges. Pointer, touch and arrow keys look at a cell.

import { el } from "../shared/dom.js";

const CLEAR = 0;

export class Grid {
  /** calls: look(place | null), pin(place); a place is [row, column]. */
  constructor(rows, cols, calls) {
    Object.assign(this, { rows, cols, calls });
    this.home = [0, 0];
    this.canvas = el("canvas", { width: cols, height: rows, "aria-hidden": "true" });
    this.context = this.canvas.getContext("2d");
    this.image = this.context.createImageData(cols, rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.looked = el("div", { class: "light looked", hidden: true });
    this.node = el("div", { class: "grid", role: "application", tabindex: "0" }, this.canvas, el("div", { class: "lines" }), this.looked);
    this.listen();
  }

  listen() {
    this.node.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.calls.look(this.placeOf(event)));
    this.node.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.calls.look(null));
    this.node.addEventListener("click", (event) => this.choose(this.placeOf(event)));
    // Focus by pointer looks at the cell under it, focus by keyboard at the cell last left.
    this.node.addEventListener("focus", () => this.node.matches(":focus-visible") && this.calls.look(this.home));
    this.node.addEventListener("blur", () => this.calls.look(null));
    this.node.addEventListener("keydown", (event) => this.press(event));
  }

  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    const part = (at, from, length, count) => Math.min(Math.max(Math.floor(((at - from) / length) * count), 0), count - 1);
    return [part(event.clientY, box.top, box.height, this.rows), part(event.clientX, box.left, box.width, this.cols)];
  }

  choose(place) {
    this.home = place;
    this.calls.pin(place);
  }

  press(event) {
    const [row, col] = this.home;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(this.home);
      return;
    }
    const to = {
      ArrowUp: [row - 1, col], ArrowDown: [row + 1, col], ArrowLeft: [row, col - 1], ArrowRight: [row, col + 1],
      Home: [row, 0], End: [row, this.cols - 1], PageUp: [0, col], PageDown: [this.rows - 1, col],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    if (to[0] < 0 || to[1] < 0 || to[0] >= this.rows || to[1] >= this.cols) return;
    this.home = to;
    this.calls.look(to);
  }

  /** The size of one cell in pixels. */
  size(width, height) {
    this.cell = [width, height];
    const style = { "--cell-w": `${width}px`, "--cell-h": `${height}px`, width: `${width * this.cols}px`, height: `${height * this.rows}px` };
    for (const [name, value] of Object.entries(style)) this.node.style.setProperty(name, value);
    this.node.dataset.lined = width >= 6 && height >= 6;
  }

  /** values in row-major order; allowed: null, or 0 where a cell may not be seen (the hatch behind shows). */
  paint(values, shade, allowed = null) {
    const { pixels } = this;
    for (let k = 0; k < pixels.length; k += 1) pixels[k] = allowed === null || allowed[k] ? shade(values[k]) : CLEAR;
    this.context.putImageData(this.image, 0, 0);
  }

  put(light, row, col, rows = 1, cols = 1) {
    const [width, height] = this.cell;
    const px = (value) => `${value}px`;
    Object.assign(light.style, { left: px(col * width), top: px(row * height), width: px(cols * width), height: px(rows * height) });
  }

  /** Outline the cell looked at, or none. */
  light(place) {
    this.looked.hidden = place === null;
    if (place) this.put(this.looked, ...place);
  }
}
