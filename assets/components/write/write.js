// The Write picture: a text that grows token by token, the triangle of one head, and what could have come instead.
// What is written it asks the server for itself; Streamlit only says with what to write.

import { el, sentence } from "../shared/dom.js";
import { unpack } from "../shared/frame.js";
import { cellState } from "../shared/heat_cells.js";
import { Heatmap } from "../shared/heatmap.js";
import { exact, percent } from "../shared/numbers.js";
import { mounted } from "../shared/theme.js";
import { named } from "../shared/words.js";
import { Bar } from "./bar.js";
import { Candidates } from "./candidates.js";
import { Feed } from "./feed.js";
import { Sheet } from "./sheet.js";
import { Tokens } from "./tokens.js";

const SHEETS = ["shared/heatmap.css", "write/write.css"];
const MOST_ROWS = 96; // A triangle of more rows has cells too small to point at.
const PATIENCE = 3000; // Milliseconds after which an order that nothing came of is forgotten.

const largest = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

class Write {
  constructor(view) {
    this.view = view;
    this.sheet = new Sheet();
    this.locked = null;
    this.preview = null;
    this.ordered = null;
    this.width = 0;
    this.build();
    this.feed = new Feed({ question: () => this.question(), heard: (answer) => this.hear(answer), lost: () => this.show() });
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(view);
    document.fonts?.ready.then(() => this.frame && this.paint());
  }

  build() {
    const leave = () => this.look(null);
    this.bar = new Bar({ write: (n) => this.order({ do: "write", n }), stop: () => this.order({ do: "stop" }), restart: () => this.order({ do: "restart" }) });
    this.tokens = new Tokens({ preview: (i) => this.look({ at: i, key: null }), choose: (i) => this.lock(i), leave });
    this.heat = new Heatmap({ preview: (i, j) => this.look({ at: i, key: j }), choose: (i) => this.lock(i), leave });
    this.candidates = new Candidates({ take: (place, id) => this.order({ do: "instead", place, id }) });
    this.statement = el("p", { class: "statement" });
    this.unread = el("p", { class: "unread-line" });
    this.heatTitle = el("h2");
    this.noHeat = el("p", { class: "quiet" });
    this.check = el("p", { class: "check" });
    const left = el("section", { class: "whole" }, this.heatTitle, this.noHeat, this.heat.node);
    this.view.append(this.bar.node, this.tokens.node, this.statement, this.unread, el("div", { class: "columns" }, this.candidates.node, left, this.check));
    this.view.addEventListener("keydown", (event) => event.key === "Escape" && this.escape(event));
    this.view.addEventListener("focusout", (event) => !this.view.contains(event.relatedTarget) && this.look(null));
  }

  /** What to write with may have changed: ask what stands there now. */
  update(frame, theme) {
    Object.assign(this, { frame, theme });
    this.view.dataset.projector = frame.projector;
    this.paint();
    this.feed.ask(frame.reader);
  }

  question() {
    const { layer, head, language } = this.frame;
    return { ...this.sheet.known(), layer, head, lang: language };
  }

  hear(answer) {
    const before = this.sheet.edition;
    this.sheet.take(answer);
    if (this.sheet.edition !== before) this.locked = null;
    if (this.ordered === null || !this.waits(answer)) this.ordered = null;
    this.paint();
    this.view.dataset.revision = `${this.frame.revision} ${this.sheet.version}`;
    return this.sheet.active || this.ordered !== null;
  }

  /** Whether an answer still speaks of the time before the order. */
  waits(answer) {
    return answer.version === this.orderedAt && performance.now() - this.orderedSince < PATIENCE;
  }

  order(asked) {
    this.ordered = asked.do;
    this.orderedAt = this.sheet.version;
    this.orderedSince = performance.now();
    this.locked = null;
    this.preview = null;
    this.feed.order(this.frame.reader, asked).then(() => this.feed.ask(this.frame.reader));
    this.show();
  }

  /** Everything anew from the sheet; only what differs is written to the page. */
  paint() {
    const { frame, sheet, theme } = this;
    const { strings } = frame;
    if (!this.view.isConnected) return;
    if (this.preview && this.preview.at >= sheet.tokens.length) this.preview = null;
    this.tokens.update(sheet, strings);
    const n = sheet.rows.length;
    const drawn = n > 0 && n <= MOST_ROWS;
    this.heat.node.hidden = !drawn;
    this.noHeat.hidden = drawn;
    this.noHeat.replaceChildren(...sentence(strings[n > MOST_ROWS ? "heat_large" : "heat_waits"], { n, most: MOST_ROWS }));
    this.heatTitle.replaceChildren(strings.heat_title, " ", el("span", { class: "quiet aside", text: strings.heat_aside }));
    if (drawn) {
      const read = sheet.tokens.slice(0, n);
      const triangle = sheet.triangle();
      const exactAt = (row, column) => triangle.weights.at(row, column);
      const stateAt = (row, column) => cellState(triangle, row, column);
      this.heat.update({ tokens: read, keys: read, ...triangle, exactAt, stateAt, hasKeys: null, strings, theme });
    }
    this.drawn = drawn;
    this.show();
  }

  /** Whose row is looked at: what is pointed at, else what is kept, else the last one that has looked. */
  current() {
    const { sheet } = this;
    if (sheet.tokens.length === 0) return { at: null, key: null };
    const { at, key } = this.preview ?? { at: this.locked ?? sheet.nRead - 1, key: null };
    const row = sheet.rows[at];
    return { at, key: key ?? (row ? largest(row) : null) };
  }

  show() {
    const { sheet, frame, theme } = this;
    const { at, key } = this.current();
    const row = at === null ? undefined : sheet.rows[at];
    this.bar.show(sheet, frame, this.ordered);
    this.tokens.show(sheet, { at, key, locked: this.locked }, theme);
    this.candidates.show(sheet, at, frame);
    if (this.drawn) this.heat.show({ row: row ? at : null, column: row ? key : null, chosen: this.locked !== null && row ? [at, key] : null });
    this.statement.replaceChildren(...this.say(at, key, row));
    this.unread.replaceChildren(...this.sayUnread());
    const { check } = sheet;
    this.check.className = `check ${check === null ? "waits" : check.passed ? "passed" : "failed"}`;
    this.check.textContent = check === null ? frame.strings.check_waits : `${check.passed ? "✓" : "✗"} ${check.sentence}`;
  }

  say(at, key, row) {
    const { sheet, frame: { strings } } = this;
    if (at === null) return [""];
    if (at === sheet.unread) return sentence(strings.statement_unread, { asker: named(sheet.tokens, at, "q strong") });
    if (!row) return [strings.heat_waits];
    const asker = named(sheet.tokens, at, "q strong");
    if (key > at) return sentence(strings.statement_masked, { asker, key: named(sheet.tokens, key, "k strong") });
    const weight = el("span", { class: "figure", text: percent(row[key]), title: exact(row[key]) });
    const parts = { asker, key: named(sheet.tokens, key, "k strong"), weight };
    const said = sentence(strings[key === at ? "statement_self" : "statement"], parts);
    const found = sheet.after(at);
    if (found === null) return said;
    const { shown, probability } = found.coming ? found.candidates[0] : found.chosen;
    const next = { token: el("b", {}, el("bdi", { text: shown })), probability: el("span", { class: "figure", text: percent(probability, 2), title: exact(probability) }) };
    return [...said, " ", ...sentence(strings[found.coming ? "statement_coming" : "statement_came"], next)];
  }

  sayUnread() {
    const { sheet, frame: { strings } } = this;
    if (sheet.tokens.length === 0) return [""];
    const parts = { n: sheet.tokens.length, rows: sheet.nRead };
    if (sheet.unread === null) return sentence(strings.rows_all, parts);
    return sentence(strings.rows_unread, { ...parts, token: named(sheet.tokens, sheet.unread, "strong") });
  }

  look(what) {
    if (!this.frame || (what?.at === this.preview?.at && what?.key === this.preview?.key)) return;
    this.preview = what;
    this.show();
  }

  lock(i) {
    this.locked = this.locked === i ? null : i;
    this.preview = null;
    this.show();
  }

  escape(event) {
    if (this.locked === null) return;
    this.lock(this.locked);
    event.stopPropagation();
  }

  resize() {
    const width = this.view.clientWidth;
    if (!this.frame || width === this.width || !this.view.isConnected) return;
    this.width = width;
    if (this.drawn) this.heat.layout();
  }

  stop() {
    this.watcher.disconnect();
    this.feed.stop();
  }
}

export default function draw({ data, parentElement }) {
  const state = mounted(parentElement, SHEETS);
  const frame = unpack(data);
  state.ready.then(() => {
    if (!state.view.isConnected) return; // The reader has left already.
    state.write ??= new Write(state.view);
    state.write.update(frame, state.theme);
  });
  return () => state.write?.stop();
}
