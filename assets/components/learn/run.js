// One run on stage: how it is doing, its attention, its curves, its matrices.

import { debounce, el, phrase, sentence } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { named } from "../shared/words.js";
import { Attention, letter } from "./attention.js";
import { Curves } from "./curves.js";
import { Matrices } from "./matrices.js";
import { patternLine, stateKind, stateLine } from "./state.js";

const REST = 200;

export class RunView {
  /** calls: stop(), look(look | null), pin(look), seek(step), goTo(frame) */
  constructor(calls) {
    this.calls = calls;
    this.title = el("h2", { class: "run-title" });
    this.stop = el("button", { type: "button", class: "stop", "data-action": "stop", onclick: () => this.askStop(), onblur: () => this.tellStop() });
    this.line = el("p", { class: "state" });
    this.fill = el("div", { class: "progress-fill" });
    this.progress = el("div", { class: "progress", role: "progressbar", "aria-valuemin": "0" }, this.fill);
    this.moment = el("button", { type: "button", class: "moment", "data-action": "moment", onclick: () => this.film?.moment && calls.goTo(this.film.moment) });
    this.pattern = el("p", { class: "pattern-line" });
    this.why = el("p", { class: "why" });
    this.said = el("p", { class: "unseen", role: "status" });
    this.empty = el("div", { class: "empty quiet" });
    this.readout = el("p", { class: "readout" });
    this.stage = el("div", { class: "stage" });
    this.node = el("section", { class: "run" },
      el("div", { class: "run-head" }, el("div", { class: "run-said" }, this.title, this.line), this.stop), this.progress, this.pattern, this.why, this.said, this.empty, this.stage);
    this.settle = debounce(REST, () => this.frame && this.attention?.settle(this.frame));
    this.built = "";
  }

  askStop() {
    if (!this.film?.active) return;
    this.film.stopAsked = true;
    this.calls.stop();
  }

  /** model: the header, with the theme; run: { id, title }; film: null where the run was not asked for. */
  update(model, run, film) {
    const { strings } = model;
    Object.assign(this, { model, film });
    this.title.textContent = run.title;
    this.why.textContent = run.why;
    this.why.hidden = run.why === "";
    this.stop.textContent = strings.stop;
    this.stop.setAttribute("aria-label", phrase(strings.stop_name, { title: run.title }));
    this.node.setAttribute("aria-label", run.title);
    this.progress.setAttribute("aria-label", phrase(strings.progress_name, { title: run.title }));
    this.signature = JSON.stringify([model.strings, model.sentences, model.matrices, model.steps, model.pattern_label, model.held_out_label, film?.id]);
  }

  /** The stage for this film's shape: built once, then only painted. */
  build() {
    const first = this.film?.frames[0] ?? null;
    const shape = first === null ? "" : JSON.stringify([first.weights.map((s) => s.map((l) => l.rows)), first.matrices.map((m) => [m.rows, m.cols])]);
    const key = first === null ? "" : `${this.signature} ${shape}`;
    if (key === this.built) return;
    this.built = key;
    this.frame = null;
    if (first === null) {
      this.stage.replaceChildren();
      return;
    }
    const held = this.heldGrid();
    this.attention = new Attention(this.model, first, this.calls);
    this.matrices = new Matrices(this.model, first, this.calls);
    this.curves = new Curves(this.model, this.calls.seek);
    this.stage.replaceChildren(el("section", { class: "attention" }, this.attention.node, this.readout), this.curves.node, this.matrices.node);
    this.layout();
    this.stage.querySelectorAll(".grid")[held]?.focus({ preventScroll: true });
  }

  heldGrid() {
    const active = this.node.getRootNode().activeElement;
    return [...this.stage.querySelectorAll(".grid")].indexOf(active);
  }

  layout() {
    if (!this.stage.firstChild) return;
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    const { projector } = this.model;
    this.attention.layout(this.attention.node.clientWidth, size, projector);
    this.matrices.layout(size);
    this.curves.layout(this.curves.node.clientWidth, size, projector);
    this.frame = null;
  }

  /** step: which frame; range: of the loss, the same for all runs; look: the cell looked at. */
  show(step, range, look) {
    this.build();
    this.tell();
    const frame = this.film?.at(step) ?? null;
    this.node.dataset.step = frame?.step ?? "";
    if (frame === null) return;
    this.curves.draw(this.film, range);
    this.curves.point(frame);
    if (frame !== this.frame || this.theme !== this.model.theme) this.attention.paint(frame, this.model.theme, this.model.allowed);
    this.matrices.paint(frame, this.film.reach, this.model.theme);
    this.attention.light(look);
    this.matrices.light(look);
    this.read(frame, look);
    Object.assign(this, { frame, theme: this.model.theme });
    this.settle();
  }

  tell() {
    const { film, model } = this;
    const { strings } = model;
    const kind = stateKind(film);
    const frames = film?.frames.length ?? 0;
    Object.assign(this.node.dataset, { state: kind, frames });
    write(this.line, stateLine(film, model));
    this.tellStop();
    const step = film?.newest?.step ?? 0;
    this.progress.setAttribute("aria-valuemax", model.steps);
    this.progress.setAttribute("aria-valuenow", Math.min(step, model.steps));
    this.progress.setAttribute("aria-valuetext", this.line.textContent);
    this.fill.style.width = `${Math.min(step / model.steps, 1) * 100}%`;
    this.tellPattern(patternLine(film, strings));
    this.empty.hidden = frames > 0;
    this.line.hidden = film === null;
    write(this.empty, film === null ? strings.press_train : film.ended ? strings.nothing_kept : strings.no_frames_yet);
    // Read aloud: when the state changes or the pattern appears, not at every step.
    const news = `${kind} ${film?.moment?.step ?? ""} ${model.language}`;
    if (news !== this.news && kind !== "none") write(this.said, `${this.line.textContent} ${film?.moment ? patternLine(film, strings) : ""}`);
    this.news = news;
  }

  /** A button that has the focus does not vanish under the reader. */
  tellStop() {
    const active = Boolean(this.film?.active);
    this.stop.hidden = !active && this.node.getRootNode().activeElement !== this.stop;
    this.stop.setAttribute("aria-disabled", String(!active || this.film.stopAsked));
  }

  tellPattern(text) {
    const appeared = Boolean(this.film?.moment);
    const line = appeared ? this.moment : null;
    this.pattern.hidden = text === "";
    this.pattern.dataset.appeared = appeared;
    if (!appeared) {
      write(this.pattern, text);
      return;
    }
    write(line, text);
    line.title = this.model.strings.go_to_moment;
    if (line.parentNode !== this.pattern) this.pattern.replaceChildren(line);
  }

  read(frame, look) {
    const parts = look && (look.kind === "weight" ? this.readWeight(frame, look) : this.readMatrix(frame, look));
    this.readout.replaceChildren(...(parts ?? [this.model.strings.readout_none]));
  }

  readWeight(frame, { s, l, h, cell: [i, j] }) {
    const { strings, sentences, allowed } = this.model;
    const head = this.attention.find({ s, l, h });
    const values = head?.weights(frame);
    if (!values || i >= head.n || j >= head.n) return null;
    const { tokens } = sentences[s];
    const k = i * head.n + j;
    const mask = allowed(s, l);
    const seen = mask === null || mask[k];
    const weight = el("b", { text: percent(values[k], 2), title: exact(values[k]) });
    const parts = { asker: named(tokens, i, "q"), key: named(tokens, j, "k"), weight, layer: l, head: h, sentence: letter(s), step: frame.step };
    return sentence(strings[seen ? "readout" : "readout_masked"], parts);
  }

  readMatrix(frame, { m, cell: [row, column] }) {
    const weights = this.matrices.find(m);
    const matrix = frame.matrices[m];
    if (!weights || !matrix || row >= matrix.rows || column >= matrix.cols) return null;
    const value = el("b", { text: exact(Number(matrix.at(row, column).toPrecision(4))), title: exact(matrix.at(row, column)) });
    return sentence(this.model.strings.readout_matrix, { name: `${weights.name.plain} ${weights.where}`, row, column, value, step: frame.step });
  }
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
