// The attention of every sentence, layer and head in one run, as small grids with their words; a table for screen readers.

import { el, phrase, word } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { named, repeated, single, spoken, upright } from "../shared/words.js";
import { Grid } from "./grid.js";
import { weightShade } from "./shades.js";

/** A, B, C …: sentences have letters, since layers and heads already have numbers. */
export const letter = (s) => String.fromCharCode(65 + s);

function columnLabel(tokens, j) {
  const { shown } = tokens[j];
  const place = repeated(tokens).has(j) ? el("span", { class: "place", text: j }) : "";
  const kind = `${upright(shown) ? "upright" : ""} ${single(shown) && !place ? "single" : ""}`;
  return el("span", { class: `column-label ${kind}`, title: shown }, el("span", { class: "turned" }, word(shown), place));
}

/** One grid: sentence s, layer l, head h. */
class Head {
  constructor(model, s, l, h, calls) {
    const { tokens, asker, wanted } = model.sentences[s];
    Object.assign(this, { s, l, h, tokens, n: tokens.length, asker });
    const place = { layer: l, head: h, sentence: letter(s) };
    this.grid = new Grid(this.n, this.n, {
      look: (cell) => calls.look(cell && { kind: "weight", s, l, h, cell }),
      pin: (cell) => calls.pin({ kind: "weight", s, l, h, cell }),
    });
    this.name = phrase(model.strings.head_name, place);
    this.grid.node.setAttribute("aria-label", phrase(model.strings.grid_name, { name: this.name }));
    this.row = el("div", { class: "light row" });
    this.wanted = wanted.map((j) => ({ j, light: el("div", { class: "light chosen" }) }));
    this.grid.node.append(this.row, ...this.wanted.map(({ light }) => light));
    this.columns = tokens.map((_, j) => columnLabel(tokens, j));
    this.rows = tokens.map((_, i) => el("span", { class: "row-label" }, named(tokens, i)));
    this.rows[asker]?.classList.add("lit");
    for (const j of wanted) this.columns[j]?.classList.add("lit");
    this.frame = el("div", { class: "head-frame" },
      el("span", { class: "corner", "aria-hidden": "true" }), el("div", { class: "head-columns", "aria-hidden": "true" }, this.columns),
      el("div", { class: "head-rows", "aria-hidden": "true" }, this.rows), this.grid.node);
    this.node = el("figure", { class: "head" }, el("figcaption", { text: this.name }), el("div", { class: "head-scroll" }, this.frame));
    this.node.dataset.place = `${s}.${l}.${h}`;
  }

  size(cell, label, top, fine) {
    for (const [name, value] of Object.entries({ "--cell": cell, "--label": label, "--top": top })) this.frame.style.setProperty(name, `${value}px`);
    this.frame.dataset.fine = fine;
    this.grid.size(cell, cell);
    this.grid.put(this.row, this.asker, 0, 1, this.n);
    for (const { j, light } of this.wanted) this.grid.put(light, this.asker, j);
  }

  /** This head's n × n part of the layer, whose heads are stacked. */
  weights(frame) {
    const size = this.n * this.n;
    return frame.weights[this.s]?.[this.l]?.data.subarray(this.h * size, (this.h + 1) * size) ?? null;
  }

  paint(frame, shade, allowed) {
    const values = this.weights(frame);
    if (values !== null) this.grid.paint(values, shade, allowed);
  }
}

/** For readers who do not see the grids: what the asker of each sentence gives to every word, a row for each head. */
class HeardTable {
  constructor(model, s, heads) {
    const { tokens, asker } = model.sentences[s];
    Object.assign(this, { heads, asker, n: tokens.length });
    const caption = phrase(model.strings.table_name, { asker: spoken(tokens, asker), sentence: letter(s) });
    const top = el("tr", {}, el("td"), tokens.map((_, j) => el("th", { scope: "col", text: spoken(tokens, j) })));
    this.cells = heads.map(() => tokens.map(() => el("td")));
    const rows = heads.map((head, r) => el("tr", {}, el("th", { scope: "row", text: head.name }), this.cells[r]));
    // A table does not shrink to the size of what is unseen; a box around it does.
    this.node = el("div", { class: "unseen" },
      el("table", {}, el("caption", { text: caption }), el("thead", {}, top), el("tbody", {}, rows)));
  }

  write(frame) {
    this.heads.forEach((head, r) => {
      const values = head.weights(frame);
      this.cells[r].forEach((cell, j) => {
        cell.textContent = values === null ? "" : percent(values[this.asker * this.n + j]);
      });
    });
  }
}

export class Attention {
  /** model: { sentences, strings }; frame: any frame of the film, for its layers and heads. */
  constructor(model, frame, calls) {
    this.model = model;
    this.heads = model.sentences.flatMap(({ tokens }, s) => (frame.weights[s] ?? []).flatMap((layer, l) =>
      Array.from({ length: layer.rows / tokens.length }, (_, h) => new Head(model, s, l, h, calls))));
    this.tables = model.sentences.map((_, s) => new HeardTable(model, s, this.heads.filter((head) => head.s === s)));
    this.node = el("div", { class: "heads" }, this.heads.map(({ node }) => node), this.tables.map(({ node }) => node));
  }

  /** As many grids side by side as can still be read, in rows of equal length. */
  layout(width, size, projector) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${size * (projector ? 0.9 : 0.8)}px ${getComputedStyle(this.node).fontFamily}`;
    const words = this.model.sentences.flatMap(({ tokens }) => tokens.map(({ shown }, i) =>
      pen.measureText(shown).width + (repeated(tokens).has(i) ? pen.measureText(` ${i}`).width : 0)));
    const longest = Math.max(...words) + size * 0.9;
    const label = Math.ceil(Math.min(longest, size * 6));
    const top = Math.ceil(Math.min(longest, size * 5.5));
    const most = Math.max(...this.model.sentences.map(({ tokens }) => tokens.length));
    const gap = size * 1.1;
    const cellFor = (count) => Math.floor(((width - gap * (count - 1)) / count - label - 1) / most);
    const counts = Array.from({ length: this.heads.length }, (_, k) => this.heads.length - k).filter((k) => this.heads.length % k === 0);
    const count = counts.find((k) => cellFor(k) >= size * 0.9) ?? 1;
    const cell = Math.min(Math.max(cellFor(count), Math.ceil(size * 0.8)), Math.floor(size * 1.5));
    this.node.style.setProperty("--count", count);
    for (const head of this.heads) head.size(cell, label, top, cell < size * 1.1);
  }

  paint(frame, theme, allowed) {
    const shade = weightShade(theme);
    for (const head of this.heads) head.paint(frame, shade, allowed(head.s, head.l));
  }

  /** look: { s, l, h, cell } of a weight, or null. */
  light(look) {
    for (const head of this.heads) {
      const here = look?.kind === "weight" && look.s === head.s && look.l === head.l && look.h === head.h;
      if (here || !head.grid.looked.hidden) head.grid.light(here ? look.cell : null);
    }
  }

  find({ s, l, h }) {
    return this.heads.find((head) => head.s === s && head.l === l && head.h === h) ?? null;
  }

  /** What is read aloud is written when the film rests, not in every frame. */
  settle(frame) {
    for (const table of this.tables) table.write(frame);
  }
}
