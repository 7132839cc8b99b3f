// The desk: holds the state, its history and its parts; tells the server, once, when a change is done.
import { el } from "../shared/dom.js";
import { Bar } from "./bar.js";
import { Editors } from "./editor.js";
import { Figures } from "./figures.js";
import { History } from "./history.js";
import { same, stagesOf } from "./model.js";
import { Plane } from "./plane.js";
import { Said } from "./statement.js";
import { StageMatrices } from "./stages.js";

const PAUSE = 400; // After the last key of several: they are one change.

export class Desk {
  constructor(view) {
    this.view = view;
    this.sent = new Set();
    this.count = 0;
    this.step = 0.1;
    this.mount = Math.random().toString(36).slice(2, 8);
    this.onKey = (event) => this.press(event);
  }

  arrive(setTriggerValue) {
    this.trigger = setTriggerValue;
    document.addEventListener("keydown", this.onKey);
  }

  leave() {
    this.trigger = null;
    clearTimeout(this.timer);
    document.removeEventListener("keydown", this.onKey);
  }

  /** A new frame. What this browser sent comes back with it and is old news; anything else is laid on the bench. */
  show(frame, theme) {
    const { arrays, revision, state, origin, ...header } = frame;
    const isFirst = this.state === undefined;
    if (isFirst) this.history = new History(state);
    if (isFirst) this.state = state;
    else if (!this.sent.has(origin) && origin !== this.origin) this.lay(state);
    this.origin = origin;
    const signature = JSON.stringify([header, theme]);
    this.header = header;
    this.theme = theme;
    if (signature !== this.signature) this.build();
    else this.update();
    this.signature = signature;
    this.view.dataset.revision = revision;
  }

  lay(state) {
    clearTimeout(this.timer);
    this.state = state;
    this.history.begin(state);
  }

  get strings() {
    return this.header.strings;
  }

  build() {
    this.view.dataset.projector = String(Boolean(this.header.projector));
    this.bar = new Bar(this);
    this.said = new Said(this);
    this.plane = new Plane(this);
    this.figures = new Figures(this);
    this.editors = new Editors(this);
    this.matrices = new StageMatrices(this);
    this.work = el("div", { class: "work" }, this.plane.node, this.figures.node, this.editors.node, this.matrices.node);
    this.view.replaceChildren(this.bar.node, this.said.node, this.work);
    this.update();
  }

  /** Everything on screen, from the state. */
  update() {
    this.stages = stagesOf(this.state);
    for (const part of [this.bar, this.said, this.plane, this.figures, this.editors, this.matrices]) part.update();
    this.view.dataset.mode = this.state.mode;
    // What is small stands beside the plane, the rest below it.
    const { mode, x, w_q: w } = this.state;
    const [n, d] = [x.length, w.length];
    this.work.dataset.room = mode === "matrices" ? (d <= 3 ? "editors" : "none") : n <= 3 && d <= 2 ? "all" : "editors";
    this.work.dataset.columns = this.header.projector ? 1 : 2;
  }

  /** A change on its way: shown at once, told when it is done. */
  preview(state) {
    clearTimeout(this.timer);
    this.state = state;
    this.update();
  }

  /** A change that others of its kind may follow at once: key after key. */
  linger(state) {
    this.preview(state);
    this.timer = setTimeout(() => this.settle(), PAUSE);
  }

  /** The change is done. */
  settle(state = this.state) {
    clearTimeout(this.timer);
    this.state = state;
    const isNew = this.history.settle(state);
    this.update();
    if (isNew || this.isTurned) this.tell();
  }

  /** The same numbers seen another way: another pair, other dimensions. */
  look(changes) {
    if (Object.keys(changes).every((name) => same(changes[name], this.state[name]))) return;
    this.history.look({ ...this.history.now, ...changes });
    this.state = { ...this.state, ...changes };
    this.isTurned = true;
    this.update();
    clearTimeout(this.timer);
    if (!this.held) this.timer = setTimeout(() => this.settle(), PAUSE);
  }

  /** An arrow is let go: its change is done, or (`isKept` false) taken back. */
  release(isKept) {
    this.held = false;
    this.settle(isKept ? this.state : this.history.now);
  }

  /** Something else altogether, that Reset goes back to. */
  take(state) {
    this.lay(state);
    this.update();
    this.tell();
  }

  reset() {
    this.settle(this.history.start);
  }

  turn(way) {
    if (!same(this.history.now, this.state)) this.settle();
    const state = this.history[way]();
    if (state === null) return;
    this.state = state;
    this.update();
    this.tell();
  }

  tell(more = {}) {
    clearTimeout(this.timer);
    this.isTurned = false;
    this.count += 1;
    const token = `${this.mount}-${this.count}`;
    this.sent.add(token);
    this.trigger?.("changed", { token, state: this.state, ...more });
  }

  /** Numbers from a seed are drawn in Python, so that a notebook can draw the same. */
  draw(seed) {
    this.history.settle(this.state);
    this.state = { ...this.state, seed };
    this.history.look(this.state);
    this.tell({ draw: true });
  }

  press(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    const way = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    const [target] = event.composedPath();
    // In a box where something was just typed, undo belongs to the box.
    const types = target.matches?.("input, textarea, [contenteditable=true]") && (!this.view.contains(target) || target.dataset.dirty);
    if (way === null || types) return;
    event.preventDefault();
    this.turn(way);
  }
}
