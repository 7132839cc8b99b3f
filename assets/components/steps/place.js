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
    // What the server knows, and what we told it that it has not yet sent back.
    this.known = null;
    this.told = [];
  }

  /**
   * Take step, query and key from a frame where they are news: at mount, with new content, or when they differ from
   * what we last sent. A frame that only answers one of our messages leaves the reader where he is by now.
   */
  take(header, fresh) {
    const sent = pick(header);
    const answered = this.told.findIndex((told) => same(told, sent));
    if (answered >= 0) this.told.splice(0, answered + 1);
    const news = this.chosen === null || fresh || (answered < 0 && !same(sent, this.known));
    if (!news) return false;
    this.chosen = { dim: 0, part: "q", ...this.chosen, ...sent, step: STEPS.includes(header.step) ? header.step : STEPS[0] };
    this.known = sent;
    this.told = [];
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
