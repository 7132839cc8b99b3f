// Where the reader is: the step, the asking and the answering word, a dimension, which of Q, K, V is looked at, and
// whether the cell is kept. The server hears of step, query and key only, and only some time after the last change.

export const STEPS = ["project", "score", "softmax", "sum"];
const SHARED = ["step", "query", "key"];
const pick = (place) => Object.fromEntries(SHARED.map((name) => [name, place[name]]));
const same = (a, b) => SHARED.every((name) => a[name] === b[name]);
const clamp = (value, count) => Math.min(Math.max(Math.trunc(Number(value) || 0), 0), count - 1);

export class Place {
  constructor() {
    this.chosen = null;
    this.locked = false;
    // What the server last said, what it has been told since, and what it therefore knows or will know.
    this.said = null;
    this.told = [];
    this.known = null;
  }

  /**
   * Take from a frame what the server changed: step, query or key that differ from what it said last. A frame that
   * answers one of our messages, or that left before one arrived, leaves the reader where he is by now.
   */
  take(header) {
    const sent = pick(header);
    const answered = this.told.findIndex((told) => same(told, sent));
    const changed = SHARED.filter((name) => this.said === null || sent[name] !== this.said[name]);
    this.said = sent;
    if (answered >= 0) {
      this.told.splice(0, answered + 1);
      return false;
    }
    if (changed.length === 0) return false;
    const taken = Object.fromEntries(changed.map((name) => [name, sent[name]]));
    this.chosen = { dim: 0, part: "q", ...this.chosen, ...taken };
    if (!STEPS.includes(this.chosen.step)) this.chosen.step = STEPS[0];
    this.known = { ...this.known, ...taken };
    return true;
  }

  /** Keep the place inside matrices of this size. */
  fit({ queries, keys, dims }) {
    const { query, key, dim } = this.chosen;
    Object.assign(this.chosen, { query: clamp(query, queries), key: clamp(key, keys), dim: clamp(dim, dims) });
  }

  /** A click on the kept cell lets it go; any other click keeps its cell; moving only moves. */
  choose(changes, how) {
    const here = Object.keys(changes).every((name) => this.chosen[name] === changes[name]);
    if (how === "click") this.locked = !(this.locked && here);
    Object.assign(this.chosen, changes);
  }

  /** The message to send, or null where the server knows it all. */
  message() {
    const next = pick(this.chosen);
    if (same(next, this.known)) return null;
    this.known = next;
    this.told.push(next);
    return next;
  }
}
