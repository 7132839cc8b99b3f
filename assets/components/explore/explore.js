// The Explore picture: words with arcs, one sentence, the whole head, the ranking, the bill of one cell.
// Hovering stays here; a choice is drawn at once and told to the server, which answers with the bill.

import { el } from "../shared/dom.js";
import { fillNotice } from "../shared/notice.js";
import { unpack } from "../shared/frame.js";
import { Heatmap } from "../shared/heatmap.js";
import { Ribbon } from "../shared/ribbon.js";
import { mounted } from "../shared/theme.js";
import { AnswerPanel } from "./answer.js";
import { Bill } from "./bill.js";
import { Ranking } from "./ranking.js";
import { billChoice, cellOf, choiceAt, completed, same, settled } from "./selection.js";
import { answerHint, createStatement } from "./statement.js";

const SHEETS = ["shared/ribbon.css", "shared/heatmap.css", "explore/explore.css"];
const NOTHING = { token: null, key: null };
const WIDE_HEAD = 28;
const WIDE_ON_PROJECTOR = 12;

class Explore {
  constructor(view) {
    this.view = view;
    this.frame = null;
    this.locked = NOTHING;
    this.preview = null;
    this.pending = null;
    this.panelOpen = false;
    this.build();
    this.width = 0;
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(view);
    document.fonts?.ready.then(() => this.frame && this.layout());
  }

  build() {
    const leave = () => this.look(null);
    this.ribbon = new Ribbon({
      preview: (side, i) => this.lookAtWord(side, i),
      choose: (side, i) => this.chooseWord(side, i),
      answer: (i) => this.openAnswer(i),
      leave,
    });
    this.heat = new Heatmap({
      preview: (i, j) => this.look(choiceAt(this.frame.direction, i, j)),
      choose: (i, j) => this.choose(choiceAt(this.frame.direction, i, j)),
      leave,
    });
    this.ranking = new Ranking({
      preview: (key) => this.look({ token: this.current().token, key }),
      choose: (key) => this.choose({ token: this.current().token, key }),
      leave,
    });
    this.bill = new Bill({ walk: () => this.send("walk", true) });
    this.panel = new AnswerPanel({ close: () => this.closeAnswer() });
    this.statement = createStatement();
    this.lockHint = el("span");
    this.answerHint = el("span");
    const hints = el("p", { class: "lock-hint quiet" }, this.lockHint, this.answerHint);
    this.heatTitle = el("h2");
    this.check = el("p", { class: "check" });
    const left = el("section", { class: "whole" }, this.heatTitle, this.heat.node);
    const right = el("div", { class: "detail" }, this.ranking.node, this.bill.node, this.check);
    this.columns = el("div", { class: "columns" }, left, right);
    this.view.append(this.ribbon.node, hints, this.statement.node, this.panel.node, this.columns);
    this.view.addEventListener("keydown", (event) => event.key === "Escape" && this.escape(event));
    this.view.addEventListener("focusout", (event) => !this.view.contains(event.relatedTarget) && this.look(null));
  }

  update(frame, theme) {
    const { locked, pending } = settled(this, frame);
    Object.assign(this, { frame, locked, pending });
    if (this.preview && !this.fits(this.preview)) this.preview = null;
    if (!frame.answers) this.panelOpen = false;
    const { strings, arrays } = frame;
    const keys = frame.keys ?? frame.tokens;
    this.view.dataset.projector = frame.projector;
    this.view.dataset.direction = frame.direction;
    this.columns.dataset.wide = keys.length > (frame.projector ? WIDE_ON_PROJECTOR : WIDE_HEAD);
    const model = { ...frame, keys, crossed: frame.keys !== null, theme, weights: arrays.weights, allowed: arrays.allowed, hasKeys: arrays.has_keys };
    this.heatTitle.replaceChildren(strings.heat_title, " ", el("span", { class: "quiet aside", text: strings.heat_aside }));
    this.ribbon.update(model);
    this.heat.update(model);
    this.bill.update(frame, theme);
    if (frame.notice) fillNotice(this.answerHint, frame.notice, (offer) => this.send("open", offer));
    this.answerHint.classList.toggle("notice", frame.notice !== null);
    this.check.className = `check ${frame.check.passed ? "passed" : "failed"}`;
    this.check.textContent = `${frame.check.passed ? "✓" : "✗"} ${frame.check.sentence}`;
    this.show();
    this.view.dataset.revision = frame.revision;
  }

  fits({ token, key }) {
    const [row, column] = cellOf(this.frame.direction, { token, key });
    const { rows, cols } = this.frame.arrays.weights;
    return (row ?? 0) < rows && (column ?? 0) < cols;
  }

  /** What is drawn: what is looked at, else what is chosen. */
  current() {
    return completed(this.frame, this.preview ?? this.locked);
  }

  show() {
    const { frame } = this;
    const shown = this.current();
    const chosen = completed(frame, this.locked);
    const [row, column] = cellOf(frame.direction, shown);
    const whole = chosen.token !== null && chosen.key !== null;
    this.ribbon.show({ ...shown, locked: this.locked.token });
    this.heat.show({ row, column, chosen: whole ? cellOf(frame.direction, chosen) : null });
    this.statement.show(frame, shown);
    this.ranking.show(frame, shown);
    this.bill.wait(this.pending !== null && frame.bill !== null && !same(billChoice(frame), chosen));
    this.panel.show(frame, this.panelOpen ? this.locked.token : null, this.pending !== null);
    if (!frame.notice) this.answerHint.replaceChildren(...answerHint(frame, frame.direction === "asks" ? row : column));
    this.lockHint.textContent = frame.strings[this.locked.token === null ? "hint_choose" : "hint_locked"];
  }

  look(choice) {
    if (this.frame === null || same(choice, this.preview) && (choice === null) === (this.preview === null)) return;
    this.preview = choice;
    this.show();
  }

  /** A word of the chosen side is looked at for itself, one of the other side as the partner. */
  ownSide() {
    return this.frame.direction === "asks" ? "askers" : "keys";
  }

  lookAtWord(side, position) {
    if (side === this.ownSide()) this.look({ token: position, key: position === this.locked.token ? this.locked.key : null });
    else if (this.current().token !== null) this.look({ token: this.current().token, key: position });
  }

  chooseWord(side, position) {
    if (side !== this.ownSide()) {
      if (this.current().token !== null) this.choose({ token: this.current().token, key: position });
    } else if (this.locked.token === position) this.choose(NOTHING);
    else this.choose({ token: position, key: null });
  }

  /** Chosen again, a cell is released. */
  choose(choice) {
    const next = same(choice, this.locked) ? NOTHING : choice;
    if (next.token === null) this.panelOpen = false;
    this.lock(next);
  }

  lock(next) {
    this.locked = next;
    this.preview = null;
    this.pending = { ...next, at: Date.now() };
    this.show();
    this.send("choice", { token: next.token, key: next.key });
  }

  openAnswer(position) {
    if (this.panelOpen && this.locked.token === position) {
      this.closeAnswer();
      return;
    }
    this.panelOpen = true;
    this.lock({ token: position, key: null });
  }

  closeAnswer() {
    this.panelOpen = false;
    this.show();
  }

  escape(event) {
    if (this.panelOpen) this.closeAnswer();
    else if (this.locked.token !== null) this.choose(NOTHING);
    else return;
    event.stopPropagation();
  }

  layout() {
    if (!this.view.isConnected) return; // A picture that has left the page has no size.
    this.ribbon.layout();
    this.heat.layout();
  }

  resize() {
    const width = this.view.clientWidth;
    if (this.frame === null || width === this.width) return;
    this.width = width;
    this.layout();
  }

  stop() {
    this.watcher.disconnect();
  }
}

export default function draw({ data, parentElement, setTriggerValue }) {
  const state = mounted(parentElement, SHEETS);
  const frame = unpack(data);
  state.ready.then(() => {
    if (!state.view.isConnected) return; // The reader has left already.
    state.explore ??= new Explore(state.view);
    state.explore.send = setTriggerValue;
    state.explore.update(frame, state.theme);
  });
  return () => state.explore?.stop();
}
