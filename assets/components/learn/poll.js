// Asks the server for the frames that are new. Asking is also the sign that somebody watches: it goes on while a film is
// paused, and it ends at once when the picture goes. While a training runs the server holds each answer until there is
// something new, so the next question follows without a timer (timers sleep in tabs that nobody sees).

import { unpack } from "../shared/frame.js";

const PAUSE = 300;
const LONGEST_PAUSE = 5000;
const PATIENCE = 10000;

const rest = (milliseconds, signal) => new Promise((done) => {
  const timer = setTimeout(done, milliseconds);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    done();
  }, { once: true });
});

export class Poll {
  /** address: of the films; heard(): something may have changed; goesOn(film): whether to ask again. */
  constructor(film, { address, heard, goesOn }) {
    Object.assign(this, { film, address, heard, goesOn });
    this.control = null;
  }

  start() {
    if (this.control !== null) return;
    this.control = new AbortController();
    this.askOn(this.control.signal);
  }

  stop() {
    this.control?.abort();
    this.control = null;
    this.film.lost = false;
  }

  async askOn(signal) {
    let failures = 0;
    while (!signal.aborted) {
      const before = this.film.frames.length;
      const heard = await this.ask(signal);
      if (signal.aborted) return;
      failures = heard ? 0 : failures + 1;
      this.film.lost = !heard;
      this.heard();
      if (heard && this.film.complete && !this.goesOn(this.film)) break;
      const more = heard && (this.film.active || (!this.film.complete && this.film.frames.length !== before));
      if (!more) await rest(Math.min(PAUSE * 2 ** failures, LONGEST_PAUSE), signal);
    }
    if (this.control?.signal === signal) this.control = null;
  }

  /** One question; false where there was no answer that can be read. */
  async ask(signal) {
    const one = new AbortController();
    const give = () => one.abort();
    const timer = setTimeout(give, PATIENCE);
    signal.addEventListener("abort", give);
    try {
      const { id, frames, place } = this.film;
      const question = `${this.address}/${encodeURIComponent(id)}?from=${frames.length}&place=${place ?? ""}`;
      const address = new URL(question, document.baseURI);
      const response = await fetch(address, { signal: one.signal, cache: "no-store" });
      if (!response.ok) return false;
      const answer = unpack(new Uint8Array(await response.arrayBuffer()));
      if (!signal.aborted) this.film.take(answer);
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", give);
    }
  }
}
