// A head of many words, painted: a square of the picture is a cell, or, of a head that comes as squares, the largest of
// several cells. What may not be seen is hatched, what is left out of the view is dotted, as in the grid of few words.
// The exact weights of the chosen word stand behind it as a table.

import { pixel, weightColour, weightGradient } from "./colour.js";
import { el, sentence, word } from "./dom.js";
import { cellState, peakOf, readInto, readSquareInto, segments, squareState, stepFrom } from "./heat_cells.js";
import { makeLegend } from "./heatmap.js";
import { exact } from "./numbers.js";
import { named, spoken } from "./words.js";

const SHADES = 256;
const LEAST = 2; // Pixels of a square.
const MOST = 14;
const TALLEST = 760;
const GAP = 6; // Before the column of a head's sink.

const SLOW = 300; // Milliseconds after which the table behind the picture is made: it may be long.

// Which pixels of a square are marked: hatched, dotted.
const hatched = (x, y, dense) => Math.floor((x + y) / dense) % 5 === 0;
const dotted = (x, y, dense) => Math.floor(x / dense) % 5 === 2 && Math.floor(y / dense) % 5 === 2;
const MARKED = { masked: hatched, nokeys: hatched, partly: hatched, hidden: dotted };

const px = (value) => `${value}px`;

export const PAINTED = 80; // Words of a side from which on a head is painted: each cell as an element would be slow.

export class HeatCanvas {
  /** calls: preview(row, column), leave(), choose(row, column) */
  constructor(calls) {
    this.calls = calls;
    this.home = [0, 0];
    this.canvas = el("canvas");
    this.paper = el("div", { class: "paper", tabindex: "0", role: "application" }, this.canvas);
    this.lights = ["row", "column", "chosen", "looked"].map((name) => el("div", { class: `light ${name}`, hidden: true }));
    this.ticks = el("div", { class: "ticks", "aria-hidden": "true" });
    this.frame = el("div", { class: "heat-frame painted" }, this.ticks, this.paper, ...this.lights);
    this.legend = makeLegend();
    this.readout = el("div", { class: "readout", "aria-live": "polite" });
    this.table = el("table", { class: "unseen" });
    this.node = el("div", { class: "heat" }, el("div", { class: "heat-scroll" }, this.frame),
      el("div", { class: "heat-foot" }, this.readout, this.legend), this.table);
    this.listen();
  }

  listen() {
    const over = (act) => (event) => {
      const at = this.squareAt(event);
      if (at !== null) act(at, event);
    };
    this.paper.addEventListener("pointermove", over((at, event) => event.pointerType !== "touch" && this.look(at)));
    this.paper.addEventListener("click", over((at) => this.choose(at)));
    this.paper.addEventListener("pointerleave", () => this.leave());
    this.paper.addEventListener("blur", () => this.leave());
    this.paper.addEventListener("focus", () => this.paper.matches(":focus-visible") && this.look(this.home));
    this.paper.addEventListener("keydown", (event) => this.press(event));
  }

  /** model: as heat_cells.js says, with around(token) → the weights of the chosen token's row or column, and its name. */
  update(model) {
    this.model = model;
    this.shown = null;
    this.looked = null;
    this.paper.setAttribute("aria-label", model.strings.canvas_name);
    this.legend.firstElementChild.style.background = `linear-gradient(to right, ${weightGradient(model.theme)})`;
    this.legend.setAttribute("aria-label", model.strings.legend_name);
    this.home = [Math.min(this.home[0], model.weights.rows - 1), Math.min(this.home[1], model.weights.cols - 1)];
    this.layout();
  }

  get isPooled() {
    return this.model.square !== null;
  }

  stateOf(i, j) {
    return this.isPooled ? squareState(this.model, i, j) : cellState(this.model, i, j);
  }

  layout() {
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    const { weights, noKey, square, isPair } = this.model;
    const { rows, cols } = weights;
    this.label = Math.round(size * (isPair ? 6.5 : 5.5));
    this.top = Math.round(size * (isPair ? 2.6 : 1.5));
    this.extra = noKey ? GAP + 12 : 0;
    const room = (this.node.clientWidth - this.label - this.extra - 8) / cols;
    this.size = Math.max(Math.min(room, TALLEST / rows, MOST), LEAST);
    const [a, b] = square ?? [1, 1];
    this.cell = { row: this.size / a, column: this.size / b };
    const style = { "--label": px(this.label), "--top": px(this.top) };
    for (const [name, value] of Object.entries(style)) this.frame.style.setProperty(name, value);
    Object.assign(this.frame.style, { width: px(this.label + cols * this.size + this.extra), height: px(this.top + rows * this.size) });
    const place = { position: "absolute", left: px(this.label), top: px(this.top), width: px(cols * this.size + this.extra), height: px(rows * this.size) };
    Object.assign(this.paper.style, place);
    this.paint();
    this.axes(size);
    if (this.shown) this.show(this.shown);
  }

  paint() {
    const { rows, cols } = this.model.weights;
    const dense = Math.max(devicePixelRatio, 1);
    const width = Math.round((cols * this.size + this.extra) * dense);
    const height = Math.round(rows * this.size * dense);
    Object.assign(this.canvas, { width, height });
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const edge = (k) => Math.round(k * this.size * dense);
    const [shade, hatch] = this.inks();
    for (let i = 0; i < rows; i += 1) {
      for (let j = 0; j < cols; j += 1) {
        const state = this.stateOf(i, j);
        const ink = state === "open" || state === "partly" ? shade(this.model.weights.at(i, j)) : 0;
        const isMarked = MARKED[state];
        for (let y = edge(i); y < edge(i + 1); y += 1) {
          const row = y * width;
          for (let x = edge(j); x < edge(j + 1); x += 1) pixels[row + x] = isMarked?.(x, y, dense) ? hatch : ink;
        }
      }
      if (this.model.noKey) this.paintSink(pixels, width, [edge(i), edge(i + 1)], edge(cols) + GAP * dense, shade(this.sinkOf(i)));
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** The colour of a weight, and that of hatches, as pixels. */
  inks() {
    const shades = Array.from({ length: SHADES + 1 }, (_, k) => pixel(weightColour((k / SHADES) ** 2, this.model.theme).fill));
    const shade = (weight) => shades[Math.round(Math.sqrt(Math.min(Math.max(weight, 0), 1)) * SHADES)];
    return [shade, pixel(getComputedStyle(this.node).getPropertyValue("--hatch").trim() || "#888888")];
  }

  /** The weight that goes to no key, per row; of several rows in one, the largest. */
  paintSink(pixels, width, [top, bottom], left, ink) {
    for (let y = top; y < bottom; y += 1) pixels.fill(ink, y * width + Math.round(left), (y + 1) * width);
  }

  sinkOf(i) {
    const a = this.model.square?.[0] ?? 1;
    return Math.max(...this.model.noKey.data.subarray(i * a, (i + 1) * a));
  }

  /** Every so many words, one beside its row; above, positions alone. */
  axes(size) {
    const { tokens, keys, strings, noKey } = this.model;
    const band = this.model.isPair ? size * 1.2 : 0;
    const every = (pixels, cell) => Math.max(1, Math.ceil(pixels / cell));
    const at = (words, step) => words.map((_, k) => k).filter((k) => k % step === 0);
    const rows = at(tokens, every(size * 1.1, this.cell.row)).map((i) => {
      const text = el("span", { class: "tick row", style: { top: px(this.top + (i + 0.5) * this.cell.row), "padding-left": px(band) } });
      text.append(word(tokens[i].shown), " ", String(i));
      return text;
    });
    const columns = at(keys, every(size * 2.4, this.cell.column)).map((j) =>
      el("span", { class: "tick column", text: String(j), style: { left: px((j + 0.5) * this.cell.column) } }));
    if (noKey) columns.push(el("span", { class: "tick column", text: strings.no_key, style: { left: px(keys.length * this.cell.column + GAP + 6) } }));
    const head = el("div", { class: "heat-side", style: { left: px(this.label) } }, columns);
    const cuts = segments(this.model, { label: this.label, top: this.top, cell: this.cell.row, cellColumn: this.cell.column });
    this.ticks.replaceChildren(head, ...rows, ...cuts);
  }

  box(row, column, columns, rows) {
    return {
      left: px(this.label + column * this.cell.column), top: px(this.top + row * this.cell.row),
      width: px(Math.max(columns * this.cell.column, 2)), height: px(Math.max(rows * this.cell.row, 2)),
    };
  }

  /** shown: { row, column, chosen: [row, column] | null } — nulls where nothing is lit. */
  show(shown) {
    this.shown = shown;
    const { tokens, keys } = this.model;
    const [rowLight, columnLight, chosen] = this.lights;
    const put = (light, box) => {
      light.hidden = box === null;
      if (box) Object.assign(light.style, box);
    };
    put(rowLight, shown.row === null ? null : this.box(shown.row, 0, keys.length, 1));
    put(columnLight, shown.column === null ? null : this.box(0, shown.column, 1, tokens.length));
    put(chosen, shown.chosen === null ? null : this.box(...shown.chosen, 1, 1));
    if (this.looked === null) this.read(shown);
    this.list();
  }

  read({ row, column }) {
    readInto(this.readout, this.model, row, column);
  }

  /** The chosen word's weights as a table, for those who do not see the picture. */
  list() {
    if (this.listed === this.model) return;
    this.listed = this.model;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fillTable(), SLOW);
  }

  fillTable() {
    const { chosen, around, strings } = this.model;
    const values = chosen === null ? null : around(chosen.token);
    if (values === null) {
      this.table.replaceChildren();
      return;
    }
    const rows = Array.from(values, (weight, k) => el("tr", {}, el("th", { scope: "row", text: spoken(chosen.others, k) }), el("td", { text: exact(weight) })));
    this.table.replaceChildren(el("caption", {}, sentence(strings.line_name, { token: named(chosen.own, chosen.token) })), el("tbody", {}, rows));
  }

  squareAt(event) {
    const box = this.paper.getBoundingClientRect();
    const [j, i] = [(event.clientX - box.left) / this.size, (event.clientY - box.top) / this.size].map(Math.floor);
    const { rows, cols } = this.model.weights;
    if (i < 0 || i >= rows) return null;
    if (j >= cols && this.model.noKey) return [i, null];
    return j < 0 || j >= cols ? null : [i, j];
  }

  look([i, j]) {
    if (this.looked?.[0] === i && this.looked[1] === j) return;
    this.looked = [i, j];
    const { strings, tokens, square } = this.model;
    const light = this.lights[3];
    light.hidden = j === null;
    if (j === null) {
      const parts = { asker: named(tokens, i * (square?.[0] ?? 1), "q"), weight: exact(this.sinkOf(i)) };
      this.readout.replaceChildren(...sentence(strings.readout_no_key, parts));
      return;
    }
    Object.assign(light.style, { left: px(this.label + j * this.size), top: px(this.top + i * this.size), width: px(this.size), height: px(this.size) });
    if (this.isPooled) readSquareInto(this.readout, this.model, i, j);
    else this.calls.preview(i, j);
    if (!this.isPooled) readInto(this.readout, this.model, i, j);
  }

  leave() {
    this.looked = null;
    this.lights[3].hidden = true;
    this.calls.leave();
    if (this.shown) this.read(this.shown);
  }

  /** A square stands for its largest cell. */
  choose([i, j]) {
    if (j === null) return;
    this.home = [i, j];
    const state = this.stateOf(i, j);
    if (!this.isPooled) this.calls.choose(i, j);
    else if (state === "open" || state === "partly") this.calls.choose(...peakOf(this.model, i, j));
  }

  press(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(this.home);
      return;
    }
    const to = stepFrom(this.home, event.key, this.model.weights);
    if (to === null) return;
    event.preventDefault();
    this.home = to;
    this.look(to);
  }
}
