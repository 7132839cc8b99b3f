// Which step is shown, for all runs together. Everything here is the browser's alone.

const RATE = 16; // Frames a second.

export class Reel {
  /** changed(): draw again, once in the next animation frame. */
  constructor(changed) {
    this.changed = changed;
    this.films = [];
    this.playing = false;
    this.known = "";
    this.steps = [];
  }

  load(films) {
    const same = films.length === this.films.length && films.every((film, i) => film === this.films[i]);
    if (same) return;
    this.films = films;
    this.playing = false;
  }

  get reader() {
    return this.films[0]?.reader ?? { step: null, follow: true };
  }

  get follow() {
    return this.reader.follow;
  }

  get active() {
    return this.films.some((film) => film.active);
  }

  /** Moving by itself: playing, or following a training. */
  get moving() {
    return this.playing || (this.follow && this.active && this.steps.length > 0);
  }

  /** The steps of which any run has a frame; a frame of one run stands until that run's next one. */
  measure() {
    const known = this.films.map((film) => `${film.id} ${film.frames.length} ${film.newest?.step}`).join();
    if (known === this.known) return;
    this.known = known;
    const all = new Set(this.films.flatMap((film) => film.frames.map(({ step }) => step)));
    this.steps = [...all].sort((a, b) => a - b);
  }

  get last() {
    return this.steps.length - 1;
  }

  get index() {
    if (this.follow || this.reader.step === null) return this.last;
    const after = this.steps.findIndex((step) => step > this.reader.step);
    return after === -1 ? this.last : Math.max(after - 1, 0);
  }

  get step() {
    return this.steps[this.index] ?? 0;
  }

  stand(index, follow = false) {
    if (this.films.length === 0) return;
    const at = Math.min(Math.max(index, 0), this.last);
    Object.assign(this.reader, { step: this.steps[at] ?? null, follow });
    this.changed();
  }

  /** The reader goes to a frame: playing and following end. */
  go(index) {
    this.playing = false;
    this.stand(index);
  }

  by(frames) {
    this.go(this.index + frames);
  }

  /** The frame nearest to a step (for the curves, which are scrubbed by step). */
  goNear(step) {
    const distance = (i) => Math.abs(this.steps[i] - step);
    this.go(this.steps.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0));
  }

  followLive(on) {
    this.playing = false;
    this.stand(this.index, on);
  }

  toggle() {
    if (this.moving) this.go(this.index);
    else if (this.index < this.last) this.play(this.index);
    else if (this.active) this.followLive(true);
    else this.play(0);
  }

  play(from) {
    if (this.last < 1) return;
    this.playing = true;
    this.start = { index: from, at: null };
    this.stand(from);
  }

  /** Called in each animation frame while playing; catches up with a training and then follows it. */
  tick(now) {
    if (!this.playing) return;
    this.start.at ??= now;
    const index = this.start.index + Math.floor((now - this.start.at) * RATE / 1000);
    if (index >= this.last) {
      this.playing = false;
      this.stand(this.last, this.active);
    } else this.stand(index);
  }
}
