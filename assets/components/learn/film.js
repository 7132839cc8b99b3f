// The film of a training: every frame that the server has sent, kept in this browser however often the picture is redrawn.

import { reachOf } from "../shared/attention.js";

const KEPT = 4;
const THERE = 0.5;
const WATCHED = 1500;
const films = new Map();

const ACTIVE = ["queued", "running"];
const ENDED = ["stopped", "failed", "gone"];

export class Film {
  constructor(id) {
    this.id = id;
    this.state = "asking";
    this.ahead = 0;
    this.reason = "";
    this.lost = false;
    this.complete = false;
    this.stopAsked = false;
    this.stoppedByOther = false;
    this.seenRunning = -Infinity;
    /** Where the reader stands: kept here, so that a page change does not lose it. */
    this.reader = { step: null, follow: true };
    this.clear();
  }

  clear() {
    this.frames = [];
    this.reach = [];
    /** The first frame whose pattern figure passes one half. */
    this.moment = null;
    this.highest = null;
  }

  get active() {
    return ACTIVE.includes(this.state);
  }

  get ended() {
    return ENDED.includes(this.state);
  }

  get newest() {
    return this.frames.at(-1) ?? null;
  }

  /** One answer of the server, in which frame 0 is the film's frame `first`. */
  take(answer, now = performance.now()) {
    const alive = ACTIVE.includes(answer.state);
    // A run that was started anew has a shorter film, or lives where ours had ended.
    if ((alive && this.ended) || answer.n_frames < this.frames.length && answer.state !== "gone") this.restart();
    if (answer.first <= this.frames.length) {
      for (let i = this.frames.length - answer.first; i < answer.frames.length; i += 1) this.append(answer, i);
    }
    if (answer.state === "stopped" && this.state !== "stopped") {
      this.stoppedByOther = !this.stopAsked && now - this.seenRunning < WATCHED;
    }
    if (alive) this.seenRunning = now;
    Object.assign(this, { state: answer.state, place: answer.place, ahead: answer.ahead ?? answer.place ?? 0, reason: answer.reason ?? "" });
    this.complete = this.frames.length >= answer.n_frames;
  }

  restart() {
    this.clear();
    this.stopAsked = false;
    this.reader = { step: null, follow: true };
  }

  append(answer, i) {
    const { arrays } = answer;
    const frame = { ...answer.frames[i], weights: [], matrices: [] };
    for (const [name, matrix] of Object.entries(arrays)) {
      const [kind, at, one, layer] = name.split(".");
      if (Number(at) !== i) continue;
      if (kind === "weights") (frame.weights[one] ??= [])[layer] = matrix;
      else if (kind === "matrix") frame.matrices[one] = matrix;
    }
    this.frames.push(frame);
    frame.matrices.forEach((matrix, m) => {
      this.reach[m] = Math.max(this.reach[m] ?? 0, reachOf(matrix));
    });
    if (typeof frame.pattern !== "number") return;
    this.highest = Math.max(this.highest ?? 0, frame.pattern);
    if (this.moment === null && frame.pattern > THERE) this.moment = frame;
  }

  /** The frame that stands at this step: the last one not after it; before the first, the first. */
  at(step) {
    let low = 0;
    let high = this.frames.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.frames[middle].step <= step) low = middle;
      else high = middle - 1;
    }
    return this.frames[low] ?? null;
  }
}

/** The film of this run; a few are kept, those looked at last. */
export function filmOf(id) {
  const film = films.get(id) ?? new Film(id);
  films.delete(id);
  films.set(id, film);
  if (films.size > KEPT) films.delete(films.keys().next().value);
  return film;
}
