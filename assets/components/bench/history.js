// Undo and redo over values. They outlive a change of page: the module stays, the picture goes.
import { same } from "./model.js";

const MOST = 300;
let remembered = null;

export class History {
  constructor(state) {
    // Back on the page with the same things on the bench: nothing is forgotten.
    const kept = remembered !== null && same(remembered.now, state) ? remembered : { past: [], future: [], start: state };
    Object.assign(this, kept, { now: state });
    this.remember();
  }

  remember() {
    const { past, future, start, now } = this;
    remembered = { past, future, start, now };
  }

  /** A new state; true if it is one. */
  settle(state) {
    if (same(state, this.now)) return false;
    this.past = [...this.past, this.now].slice(-MOST);
    this.future = [];
    this.move(state);
    return true;
  }

  /** The same things, seen another way: nothing to undo. */
  look(state) {
    this.move(state);
  }

  /** Something else was laid on the bench: this is what Reset goes back to. */
  begin(state) {
    this.settle(state);
    this.start = state;
    this.remember();
  }

  move(state) {
    this.now = state;
    this.remember();
  }

  undo() {
    return this.step("past", "future");
  }

  redo() {
    return this.step("future", "past");
  }

  step(from, to) {
    if (this[from].length === 0) return null;
    const state = this[from].at(-1);
    this[to] = [...this[to], this.now];
    this[from] = this[from].slice(0, -1);
    this.move(state);
    return state;
  }
}
