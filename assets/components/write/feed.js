// Asks the server what is new, as long as something goes on. The open question is the sign that somebody watches; the
// server holds each until there is something new, so no timer is needed (timers sleep in tabs that nobody sees).

import { unpack } from "../shared/frame.js";

const PAUSE = 300;
const LONGEST_PAUSE = 5000;
const PATIENCE = 10000;

const rest = (milliseconds) => new Promise((done) => {
  setTimeout(done, milliseconds);
});

export class Feed {
  /** question(): what to ask, by name; heard(answer): it came, and says whether to go on; lost(): no answer. */
  constructor({ question, heard, lost }) {
    Object.assign(this, { question, heard, lost });
    this.control = null;
  }

  /** Ask now; a question that is open is dropped, since it asked for something else. */
  ask(reader) {
    this.stop();
    this.address = `writings/${encodeURIComponent(reader)}`;
    this.control = new AbortController();
    this.askOn(this.control);
  }

  stop() {
    this.control?.abort();
    this.control = null;
  }

  async askOn(control) {
    let failures = 0;
    while (!control.signal.aborted) {
      const answer = await this.once(control.signal);
      if (control.signal.aborted) return;
      failures = answer === null ? failures + 1 : 0;
      if (answer === null) this.lost();
      else if (!this.heard(answer)) break;
      if (answer === null) await rest(Math.min(PAUSE * 2 ** failures, LONGEST_PAUSE));
    }
    if (this.control === control) this.control = null;
  }

  async once(signal) {
    try {
      const address = new URL(`${this.address}?${new URLSearchParams(this.question())}`, document.baseURI);
      const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
      const response = await fetch(address, { signal: patience, cache: "no-store" });
      return response.ok ? unpack(new Uint8Array(await response.arrayBuffer())) : null;
    } catch {
      return null;
    }
  }

  /** Tell the server what to do. */
  async order(reader, asked) {
    const address = new URL(`writings/${encodeURIComponent(reader)}?${new URLSearchParams(asked)}`, document.baseURI);
    try {
      await fetch(address, { method: "POST" });
    } catch {
      this.lost();
    }
  }
}
