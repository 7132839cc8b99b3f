// A head as a grid: rows ask, columns answer, one fixed scale from 0 to 1. Positions, never texts, are the axes.

import { weightColour, weightGradient } from "./colour.js";
import { el, sentence, word } from "./dom.js";
import { exact, percent } from "./numbers.js";
import { cellState, readInto, segments, stepFrom } from "./heat_cells.js";
import { fillTo, named, repeated, single, upright } from "./words.js";

const LABEL_LIMIT = 7.5;
const cellName = (weight, strings, state) => (state === "open" ? percent(weight, 2) : strings[`cell_${state}`]);

function makeCell() {
  return el("span", { class: "cell", role: "gridcell" });
}

function makeRow(row) {
  return el("div", { class: "heat-row", role: "row", "data-row": row }, el("span", { class: "row-label", role: "rowheader" }));
}

/** 0 to 1 with its marks where they belong. */
export function makeLegend() {
  const marks = [0, 0.25, 0.5, 1].map((mark) => el("span", { class: "mark", style: { left: `${mark * 100}%` }, text: String(mark) }));
  return el("div", { class: "legend", role: "img" }, el("div", { class: "ramp" }), el("div", { class: "marks" }, marks));
}

export class Heatmap {
  /** calls: preview(row, column), leave(), choose(row, column) */
  constructor(calls) {
    this.calls = calls;
    this.home = [0, 0];
    this.cells = [];
    this.head = el("div", { class: "heat-row heat-head", role: "row" }, el("span", { class: "corner", role: "columnheader" }));
    this.body = el("div", { class: "heat-rows", role: "rowgroup" });
    this.grid = el("div", { class: "heat-grid", role: "grid" }, el("div", { role: "rowgroup" }, this.head), this.body);
    this.lights = ["row", "column", "chosen"].map((name) => el("div", { class: `light ${name}`, hidden: true }));
    this.blank = el("div", { class: "blank-rows" });
    this.cuts = el("div", { class: "cuts", "aria-hidden": "true" });
    this.frame = el("div", { class: "heat-frame" }, this.grid, ...this.lights, this.blank, this.cuts);
    this.legend = makeLegend();
    this.readout = el("div", { class: "readout" });
    this.node = el("div", { class: "heat" }, el("div", { class: "heat-scroll" }, this.frame),
      el("div", { class: "heat-foot" }, this.readout, this.legend));
    this.listen();
  }

  listen() {
    const at = (event) => event.target.closest?.(".cell");
    this.grid.addEventListener("pointerover", (event) => {
      if (at(event) && event.pointerType !== "touch") this.calls.preview(...at(event).place);
    });
    this.grid.addEventListener("focusin", (event) => {
      if (!at(event)) return;
      this.settle(...at(event).place);
      this.calls.preview(...this.home);
    });
    this.grid.addEventListener("pointerdown", (event) => {
      if (at(event)) this.settle(...at(event).place);
    });
    this.grid.addEventListener("click", (event) => {
      if (at(event)) this.calls.choose(...at(event).place);
    });
    this.grid.addEventListener("keydown", (event) => this.press(event));
    this.grid.addEventListener("pointerleave", () => this.calls.leave());
  }

  /** model: { tokens, keys, weights, allowed, hidden, hasKeys, noKey, removed, leftOut, sink, isPair, strings, theme } */
  update(model) {
    this.model = model;
    this.shown = null;
    const { rows, cols } = model.weights;
    this.build(rows, cols);
    this.grid.setAttribute("aria-label", model.strings.heat_name);
    this.grid.setAttribute("aria-rowcount", rows + 1);
    this.grid.setAttribute("aria-colcount", cols + 1 + (model.noKey ? 1 : 0));
    this.head.firstElementChild.replaceChildren(el("span", { class: "unseen", text: model.strings.heat_corner }));
    this.labels();
    this.legend.firstElementChild.style.background = `linear-gradient(to right, ${weightGradient(model.theme)})`;
    this.legend.setAttribute("aria-label", model.strings.legend_name);
    this.layout();
    this.settle(Math.min(this.home[0], rows - 1), Math.min(this.home[1], cols - 1));
  }

  build(rows, cols) {
    if (this.cells.length === rows && this.cells[0]?.length === cols) return;
    this.sinkColumn(false);
    fillTo(this.head, cols + 1, () => el("span", { class: "column-label", role: "columnheader" }));
    this.cells = fillTo(this.body, rows, makeRow).map((row, i) => {
      const cells = fillTo(row, cols + 1, makeCell).slice(1);
      cells.forEach((cell, j) => {
        cell.place = [i, j];
        cell.dataset.row = i;
        cell.dataset.col = j;
      });
      return cells;
    });
  }

  labels() {
    const { tokens, keys } = this.model;
    this.sinkColumn(Boolean(this.model.noKey));
    this.rowLabels = [...this.body.children].map((row) => row.firstElementChild);
    this.columnLabels = [...this.head.children].slice(1, keys.length + 1);
    this.rowLabels.forEach((label, i) => label.replaceChildren(named(tokens, i)));
    this.columnLabels.forEach((label, j) => {
      label.classList.toggle("upright", upright(keys[j].shown));
      label.classList.toggle("single", single(keys[j].shown) && !repeated(keys).has(j));
      label.classList.toggle("left-out", j === this.model.leftOut);
      const place = repeated(keys).has(j) ? el("span", { class: "place", text: j }) : null;
      label.title = j === this.model.sink ? `${keys[j].shown} · ${this.model.strings.sink_mark}` : keys[j].shown;
      label.replaceChildren(el("span", { class: "turned" }, word(keys[j].shown), place ?? ""));
    });
  }

  stateOf(i, j) {
    return cellState(this.model, i, j);
  }

  /** A column after the keys, for the weight that goes to none of them. */
  sinkColumn(isThere) {
    for (const node of this.grid.querySelectorAll(".no-key")) node.remove();
    if (!isThere) return;
    const { noKey, strings, theme, tokens } = this.model;
    this.head.append(el("span", { class: "column-label no-key", role: "columnheader" }, el("span", { class: "turned", text: strings.no_key })));
    [...this.body.children].forEach((row, i) => {
      const weight = noKey.data[i];
      const { fill, ink } = weightColour(weight, theme);
      const parts = { asker: named(tokens, i, "q"), weight: exact(weight) };
      const tell = () => this.readout.replaceChildren(...sentence(strings.readout_no_key, parts));
      row.append(el("span", { class: "no-key", role: "gridcell", "data-row": i, title: exact(weight), "aria-label": percent(weight, 2), style: { background: fill, color: ink }, onpointerover: tell }));
    });
  }

  /** What the sink column says depends on the room, as in the other cells. */
  paintSink() {
    for (const cell of this.body.querySelectorAll(".no-key")) {
      const weight = this.model.noKey.data[cell.dataset.row];
      cell.textContent = this.figures && weight >= 0.005 ? String(Math.round(weight * 100)) : "";
    }
  }

  /** Cells are written to only where something changed: 64 words are 4096 of them. */
  paint() {
    const { weights, theme } = this.model;
    const language = this.model.strings.cell_masked;
    this.cells.forEach((row, i) => {
      const values = weights.row(i);
      row.forEach((cell, j) => {
        const state = this.stateOf(i, j);
        const key = `${values[j]} ${state} ${theme} ${this.figures} ${language}`;
        if (cell.painted === key) return;
        cell.painted = key;
        this.paintCell(cell, values[j], state);
      });
    });
  }

  paintCell(cell, weight, state) {
    const name = `cell ${state}`;
    if (cell.className !== name) cell.className = name;
    const { fill, ink } = state === "open" ? weightColour(weight, this.model.theme) : { fill: "", ink: "" };
    cell.style.backgroundColor = fill;
    cell.style.color = ink;
    const figure = this.figures && state !== "hidden" && weight >= 0.005 ? String(Math.round(weight * 100)) : "";
    const text = state === "masked" ? "·" : figure;
    if (cell.textContent !== text) cell.textContent = text;
    cell.setAttribute("aria-label", cellName(weight, this.model.strings, state));
  }

  /** The size of a cell from the room that there is; measured before the cells are written to, which is cheap. */
  layout() {
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    const { rows, cols } = this.model.weights;
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${size * 0.85}px ${getComputedStyle(this.node).fontFamily}`;
    const wide = (tokens) => Math.max(...tokens.map((token) => pen.measureText(token.shown).width)) + size * 1.1;
    const band = this.model.isPair ? size * 1.2 : 0;
    const extra = this.model.noKey ? 1.4 : 0;
    const label = Math.min(wide(this.model.tokens), size * LABEL_LIMIT, this.node.clientWidth * 0.24) + band;
    const head = Math.min(wide(this.model.keys), size * 6.5) + band;
    const room = (this.node.clientWidth - label - 2) / (cols + extra);
    const projector = this.node.closest("[data-projector='true']") !== null;
    const [least, most] = projector ? [2.1, 2.2] : [0.85, cols > 24 ? 1.5 : 1.62];
    this.cell = Math.floor(Math.min(Math.max(room, size * least), size * most) * 4) / 4;
    this.label = Math.ceil(label);
    this.top = Math.ceil(head);
    const style = { "--band": `${band}px`, "--cell": `${this.cell}px`, "--label": `${this.label}px`, "--top": `${this.top}px`, "--figure": `${Math.min(size * (projector ? 0.9 : 0.72), this.cell * 0.5)}px` };
    for (const [name, value] of Object.entries(style)) this.frame.style.setProperty(name, value);
    this.frame.style.width = `${this.label + (cols + extra) * this.cell}px`;
    this.figures = this.cell >= size * 1.3;
    this.frame.dataset.fine = this.cell < size * 1.1;
    this.paint();
    this.paintSink();
    this.blankRows(rows, cols);
    this.cuts.replaceChildren(...segments(this.model, this));
    if (this.shown) this.show(this.shown);
  }

  blankRows(rows, cols) {
    const without = Array.from({ length: rows }, (_, i) => i).filter((i) => this.stateOf(i, 0) === "nokeys");
    this.blank.replaceChildren(...without.map((i) => el("span", {
      text: this.model.strings.cell_nokeys,
      style: { ...this.box(i, 0, cols, 1) },
    })));
  }

  box(row, column, columns, rows) {
    const px = (value) => `${value}px`;
    return {
      left: px(this.label + column * this.cell), top: px(this.top + row * this.cell),
      width: px(columns * this.cell), height: px(rows * this.cell),
    };
  }

  /** shown: { row, column, chosen: [row, column] | null } — nulls where nothing is lit. */
  show(shown) {
    this.shown = shown;
    const { rows, cols } = this.model.weights;
    const [rowLight, columnLight, chosen] = this.lights;
    const put = (light, box) => {
      light.hidden = box === null;
      if (box) Object.assign(light.style, box);
    };
    put(rowLight, shown.row === null ? null : this.box(shown.row, 0, cols, 1));
    put(columnLight, shown.column === null ? null : this.box(0, shown.column, 1, rows));
    put(chosen, shown.chosen === null ? null : this.box(...shown.chosen, 1, 1));
    this.rowLabels.forEach((label, i) => label.classList.toggle("lit", i === shown.row));
    this.columnLabels.forEach((label, j) => label.classList.toggle("lit", j === shown.column));
    this.selected?.removeAttribute("aria-selected");
    this.selected = shown.chosen === null ? null : this.cells[shown.chosen[0]][shown.chosen[1]];
    this.selected?.setAttribute("aria-selected", "true");
    this.read(shown.row, shown.column);
  }

  read(row, column) {
    readInto(this.readout, this.model, row, column);
  }

  settle(row, column) {
    const before = this.cells[this.home[0]]?.[this.home[1]];
    const now = this.cells[row][column];
    // A cell that keeps its place keeps its tabindex: taking it away, even for a moment, would drop the focus.
    if (before !== now) before?.removeAttribute("tabindex");
    this.home = [row, column];
    now.setAttribute("tabindex", "0");
  }

  press(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.calls.choose(...this.home);
      return;
    }
    const to = stepFrom(this.home, event.key, this.model.weights);
    if (to === null) return;
    event.preventDefault();
    this.settle(...to);
    this.cells[to[0]][to[1]].focus();
  }
}
