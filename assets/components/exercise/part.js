// One stage to fill in: its boxes, the check and what it found, hints one by one, and the answer for those who want it.
import { el, phrase } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { nameOf } from "../bench/model.js";
import { askers, plain } from "./given.js";
import { worked } from "./worked.js";

const HINTS = 3;
const MOST_NAMED = 4;

export class Part {
  constructor(ctx, stage, at) {
    this.ctx = ctx;
    this.stage = stage;
    this.hints = 0;
    const { strings, stages } = ctx;
    this.right = stages[stage];
    this.columns = Array.from({ length: this.right.cols }, (_, c) => (stage === "output" ? String(c) : nameOf(c)));
    this.rows = askers(ctx);
    this.boxes = this.rows.map((_, i) => this.columns.map((_, c) => this.box(i, c)));
    this.verdict = el("p", { class: "verdict", role: "status" });
    this.hintList = el("ol", { class: "hints", hidden: true });
    this.answer = el("div", { class: "answer", hidden: true });
    this.mark = el("span", { class: "mark" });
    this.node = el("section", { class: "part", "data-stage": stage, "aria-label": strings[`stage_${stage}`] },
      el("h3", {}, `${at + 1} · ${strings[`stage_${stage}`]} `, el("span", { class: "formula", text: this.formula() }), this.mark),
      this.table(this.boxes, "entries"), this.buttons(), this.verdict, this.hintList, this.answer);
  }

  formula() {
    const { arrays, header } = this.ctx;
    const d = arrays.q.cols;
    return { scores: header.asker === null ? "Q Kᵀ" : "q Kᵀ", scaled: `÷ √${d}`, masked: "−∞", weights: "softmax", output: "· V" }[this.stage];
  }

  /** cells: nodes or texts, row by row. */
  table(cells, kind) {
    const head = el("tr", {}, el("td"), this.columns.map((name) => el("th", { scope: "col", text: name })));
    const body = cells.map((row, i) => el("tr", {}, el("th", { scope: "row", text: this.rows[i] }), row.map((cell) => el("td", {}, cell))));
    return el("table", { class: `numbers ${kind}` }, el("caption", { class: "unseen", text: this.ctx.strings[`stage_${this.stage}`] }),
      el("thead", {}, head), el("tbody", {}, body));
  }

  box(i, c) {
    const { strings, answers } = this.ctx;
    const key = `${this.stage} ${i} ${c}`;
    const label = phrase(strings.box, { stage: strings[`stage_${this.stage}`], cell: this.cell(i, c) });
    const box = el("input", { type: "text", class: "entry", maxlength: 120, autocomplete: "off", spellcheck: "false", autocapitalize: "off",
      "aria-label": label, "data-i": i, "data-j": c });
    box.value = answers.get(key) ?? "";
    box.addEventListener("input", () => {
      answers.set(key, box.value);
      this.forget(box);
    });
    box.addEventListener("keydown", (event) => this.press(event, i, c));
    return box;
  }

  /** How a cell is called: who asks → who answers, or row and column of the output. */
  cell(i, c) {
    return this.stage === "output" ? `${this.rows[i]}, ${c}` : `${this.rows[i]} → ${this.columns[c]}`;
  }

  /** Enter goes on to the next box, and after the last one asks for the check; up and down change the row. */
  press(event, i, c) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      this.boxes[i + by]?.[c].focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const next = this.boxes[i][c + 1] ?? this.boxes[i + 1]?.[0];
      if (next) next.focus();
      else this.ctx.check(this.stage);
    }
  }

  buttons() {
    const { strings } = this.ctx;
    const button = (action, onclick) =>
      el("button", { type: "button", class: `press ${action}`, "data-action": action, text: strings[action], onclick });
    this.hintButton = button("hint", () => this.hint());
    this.showButton = button("show", () => this.reveal());
    this.showButton.setAttribute("aria-expanded", "false");
    return el("div", { class: "buttons" }, button("check", () => this.ctx.check(this.stage)), this.hintButton, this.showButton);
  }

  typed() {
    return this.boxes.map((row) => row.map((box) => box.value));
  }

  /** A number was changed: what was said of the old one no longer holds. */
  forget(box) {
    box.removeAttribute("aria-invalid");
    this.verdict.replaceChildren();
    this.verdict.className = "verdict";
    this.mark.textContent = "";
    delete this.node.dataset.kind;
  }

  judge({ kind, cells, also }) {
    const { strings } = this.ctx;
    const parts = { cells: cells.map(([i, c]) => this.cell(i, c)).join(strings.join), d: String(this.ctx.arrays.q.cols) };
    const all = this.rows.length * this.columns.length;
    const said = (name) => phrase(this.sentence(name, cells.length, all), { ...parts, n: String(cells.length), all: String(all) });
    const others = also.map((name) => phrase(strings.also, { other: said(name) }));
    for (const row of this.boxes) for (const box of row) box.removeAttribute("aria-invalid");
    for (const [i, c] of cells) this.boxes[i][c].setAttribute("aria-invalid", "true");
    const isRight = kind === "right";
    this.node.dataset.kind = kind;
    this.mark.textContent = isRight ? "✓" : "";
    this.verdict.className = `verdict ${isRight ? "good" : kind === "incomplete" ? "open" : "bad"}`;
    const first = `${isRight ? "✓" : kind === "incomplete" ? "…" : "✗"} ${said(kind)}`;
    this.verdict.replaceChildren(...[first, ...others].map((text) => el("span", { text })));
  }

  /** What is said; a long list of cells is a number instead, they are marked anyway. */
  sentence(kind, count, all) {
    const { strings } = this.ctx;
    if (kind === "incomplete" && count === all) return strings.all_empty;
    if (count > MOST_NAMED && kind === "incomplete") return strings.many_empty;
    return count > MOST_NAMED && kind === "differs" ? strings.many_differ : strings[`kind_${kind}`];
  }

  hint() {
    if (this.hints >= HINTS) return;
    this.hints += 1;
    const { strings } = this.ctx;
    const text = this.hints === HINTS ? worked(this.ctx, this.stage) : strings[`hint_${this.stage}_${this.hints}`];
    this.hintList.append(el("li", { text }));
    this.hintList.hidden = false;
    this.hintButton.setAttribute("aria-disabled", String(this.hints >= HINTS));
    this.hintButton.textContent = this.hints >= HINTS ? strings.no_more_hints : strings.more_hint;
  }

  reveal() {
    const { strings } = this.ctx;
    const isOpen = this.answer.hidden;
    const isWhole = this.stage === "scores";
    const write = (value) => (value === -Infinity ? "−∞" : isWhole ? plain(value) : fixed(value, 3));
    const cells = this.rows.map((_, i) => Array.from(this.right.row(i), write));
    this.answer.replaceChildren(...(isOpen ? [this.table(cells, "shown")] : []));
    this.answer.hidden = !isOpen;
    this.showButton.setAttribute("aria-expanded", String(isOpen));
    this.showButton.textContent = isOpen ? strings.hide : strings.show;
  }
}
