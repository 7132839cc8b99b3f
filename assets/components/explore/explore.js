// The Explore picture: words with arcs, one sentence, the whole head, the ranking, the bill of one cell.
// Hovering stays here; a choice is drawn at once and told to the server, which answers with the bill.

import { el } from "../shared/dom.js";
import { fillNotice } from "../shared/notice.js";
import { unpack } from "../shared/frame.js";
import { HeatCanvas, PAINTED } from "../shared/heat_canvas.js";
import { Heatmap } from "../shared/heatmap.js";
import { Ribbon } from "../shared/ribbon.js";
import { mounted } from "../shared/theme.js";
import { AnswerPanel } from "./answer.js";
import { Bill } from "./bill.js";
import { Ranking } from "./ranking.js";
import { billChoice, cellOf, choiceAt, completed, drawnAround, same, settled, sides, stateAt, told, weightAt } from "./selection.js";
import { answerHint, createStatement } from "./statement.js";

const SHEETS = ["shared/ribbon.css", "shared/heatmap.css", "explore/explore.css"];
const NOTHING = { token: null, key: null };
const WIDE_HEAD = 28;
const WIDE_ON_PROJECTOR = 12;

/** Sentences in a list; nothing where there are none. */
function fillList(node, lines) {
  node.hidden = lines.length === 0;
  node.replaceChildren(...lines.map((text) => el("li", { text })));
}

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
    const calls = {
      preview: (i, j) => this.look(choiceAt(this.frame.direction, i, j)),
      choose: (i, j) => this.choose(choiceAt(this.frame.direction, i, j)),
      leave,
    };
    this.heats = { grid: new Heatmap(calls), canvas: new HeatCanvas(calls) };
    this.heat = this.heats.grid;
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
    this.remarks = el("ul", { class: "remarks quiet", hidden: true });
    this.about = el("ul", { class: "remarks about quiet", hidden: true });
    this.heatRoom = el("div", {}, this.heat.node);
    this.check = el("p", { class: "check" });
    const left = el("section", { class: "whole" }, this.heatTitle, this.heatRoom, this.about);
    const right = el("div", { class: "detail" }, this.ranking.node, this.bill.node, this.check);
    this.columns = el("div", { class: "columns" }, left, right);
    this.view.append(this.ribbon.node, hints, this.remarks, this.statement.node, this.panel.node, this.columns);
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
    const isPainted = Math.max(frame.tokens.length, keys.length) > PAINTED;
    this.columns.dataset.wide = !isPainted && keys.length > (frame.projector ? WIDE_ON_PROJECTOR : WIDE_HEAD);
    this.columns.dataset.painted = isPainted;
    this.useHeat(isPainted ? this.heats.canvas : this.heats.grid);
    const model = this.modelOf(frame, keys, theme);
    this.heatTitle.replaceChildren(strings.heat_title, " ", el("span", { class: "quiet aside", text: strings.heat_aside }));
    this.ribbon.update(model);
    this.heat.update(model);
    this.bill.update(frame, theme);
    fillList(this.remarks, frame.remarks);
    fillList(this.about, frame.about);
    if (frame.notice) fillNotice(this.answerHint, frame.notice, (offer) => this.send("open", offer));
    this.answerHint.classList.toggle("notice", frame.notice !== null);
    this.check.className = `check ${frame.check.passed ? "passed" : "failed"}`;
    this.check.textContent = `${frame.check.passed ? "✓" : "✗"} ${frame.check.sentence}`;
    this.show();
    this.view.dataset.revision = frame.revision;
  }

  /** What ribbon and heatmap draw. */
  modelOf(frame, keys, theme) {
    const { arrays } = frame;
    const [own, others] = sides(frame);
    const isDrawn = frame.square === null || arrays.line !== undefined;
    return {
      ...frame, keys, theme,
      crossed: frame.keys !== null,
      isPair: [...frame.tokens, ...keys].some(({ segment }) => segment),
      weights: arrays.weights, allowed: arrays.allowed, hidden: arrays.hidden, hasKeys: arrays.has_keys,
      noKey: arrays.no_key, removed: arrays.removed, leftOut: frame.left_out,
      states: arrays.states, peakRows: arrays.peak_rows, peakColumns: arrays.peak_columns,
      around: (token) => drawnAround(frame, token),
      exactAt: (row, column) => weightAt(frame, row, column),
      stateAt: (row, column) => stateAt(frame, row, column),
      isHidden: (token, key) => stateAt(frame, ...cellOf(frame.direction, { token, key })) === "hidden",
      chosen: frame.token === null || !isDrawn ? null : { token: frame.token, own, others },
    };
  }

  useHeat(heat) {
    if (this.heat === heat) return;
    this.heat = heat;
    this.heatRoom.replaceChildren(heat.node);
  }

  fits({ token, key }) {
    const [own, others] = sides(this.frame);
    return (token ?? 0) < own.length && (key ?? 0) < others.length;
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

  /** Of a head that comes as squares, only the chosen word's weights are here: another word is chosen, not looked at. */
  isHere(token) {
    return this.frame.square === null || token === this.locked.token;
  }

  /** A word of the chosen side is looked at for itself, one of the other side as the partner. */
  ownSide() {
    return this.frame.direction === "asks" ? "askers" : "keys";
  }

  lookAtWord(side, position) {
    const isCrossed = this.frame.keys !== null;
    if (side === this.ownSide() && this.isHere(position)) this.look({ token: position, key: position === this.locked.token ? this.locked.key : null });
    else if ((side !== this.ownSide() || !isCrossed) && this.current().token !== null) this.look({ token: this.current().token, key: position });
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
    this.send("choice", told(this.frame, next));
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
