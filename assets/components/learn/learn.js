// The Learn picture: trainings watched as they happen, and afterwards as films. The server is asked for frames and told
// "train" and "stop"; which frame is shown is this browser's alone.

import { weightGradient } from "../shared/colour.js";
import { el } from "../shared/dom.js";
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";
import { named } from "../shared/words.js";
import { letter } from "./attention.js";
import { lossRange } from "./curves.js";
import { filmOf } from "./film.js";
import { Poll } from "./poll.js";
import { Reel } from "./reel.js";
import { RunView } from "./run.js";
import { TrainBar } from "./train.js";
import { Transport } from "./transport.js";

const SHEETS = ["shared/heatmap.css", "learn/learn.css", "learn/stage.css"];

function legend(strings, theme) {
  const marks = [0, 0.25, 0.5, 1].map((mark) => el("span", { class: "mark", style: { left: `${mark * 100}%` }, text: String(mark) }));
  return el("div", { class: "legend", role: "img", "aria-label": strings.legend_name },
    el("div", { class: "ramp", style: { background: `linear-gradient(to right, ${weightGradient(theme)})` } }),
    el("div", { class: "marks" }, marks));
}

/** A sentence in one line: the asker blue, the answers that the pattern is about outlined. */
function sentenceLine({ tokens, asker, wanted }, s) {
  const role = (i) => (i === asker ? "asker" : wanted.includes(i) ? "wanted" : "");
  return el("p", { class: "sentence" }, el("b", { text: letter(s) }), tokens.flatMap((_, i) => [" ", named(tokens, i, role(i))]));
}

class Learn {
  constructor(view) {
    this.view = view;
    this.header = null;
    this.polls = new Map();
    this.runs = [];
    this.films = [];
    this.look = null;
    this.pinned = null;
    this.frame = null;
    this.width = 0;
    this.reel = new Reel(() => this.invalidate());
    this.transport = new Transport(this.reel);
    this.bar = new TrainBar({ train: () => this.train(), rested: () => this.invalidate() });
    this.sentences = el("div", { class: "sentences" });
    this.stage = el("div", { class: "runs" });
    view.append(this.bar.node, this.transport.node, this.sentences, this.stage);
    view.addEventListener("keydown", (event) => event.key === "Escape" && this.unpin(event));
    this.watcher = new ResizeObserver(() => this.resize());
    document.fonts?.ready.then(() => this.layout());
  }

  update(frame, theme) {
    const { arrays, ...header } = frame;
    this.watcher.observe(this.view);
    this.header = { ...header, theme };
    this.masks = arrays;
    this.view.dataset.projector = String(Boolean(header.projector));
    const { strings } = header;
    this.bar.update(this.header);
    this.transport.update(strings);
    this.sentences.replaceChildren(
      el("div", { class: "sentence-lines" }, header.sentences.map(sentenceLine)),
      el("div", { class: "key" }, el("span", { class: "quiet", text: strings.outlines }), legend(strings, theme)));
    this.watch();
    this.layout();
    this.view.dataset.revision = header.revision;
  }

  /** One film and one poll for each run; what is no longer shown is no longer asked for. */
  watch() {
    const { runs } = this.header;
    const before = this.films.map((film) => film?.id).join();
    this.films = runs.map(({ id }) => (id ? filmOf(id) : null));
    this.reel.load(this.films.filter((film) => film !== null));
    if (this.films.map((film) => film?.id).join() !== before && !this.films.includes(null)) this.bar.rest();
    for (const [id, poll] of this.polls) {
      if (this.films.some((film) => film?.id === id)) continue;
      poll.stop();
      this.polls.delete(id);
    }
    this.ask((film) => !this.polls.has(film.id) && !(film.state === "finished" && film.complete));
    while (this.runs.length > runs.length) this.runs.pop().node.remove();
    while (this.runs.length < runs.length) this.addRun(this.runs.length);
    this.stage.dataset.count = runs.length;
    this.runs.forEach((view, k) => view.update({ ...this.header, allowed: this.allowed(k), matrices: runs[k].matrices }, runs[k], this.films[k]));
  }

  /** allowed(s, l) of run k: null, or 0 where a token of sentence s may not see another in layer l. */
  allowed(k) {
    const { masks } = this;
    return (s, l) => masks[`allowed.${k}.${s}.${l}`]?.data ?? null;
  }

  /** The page has more to say about a run that has ended, so it is told; once for each frame of the page. */
  tellEnded() {
    const { runs, revision } = this.header;
    const news = this.films.some((film, k) => film !== null && !film.active && film.state !== "asking" && film.state !== runs[k].state);
    if (!news || this.told === revision) return;
    this.told = revision;
    this.send("ended", true);
  }

  ask(chosen) {
    const address = this.header.films.replace(/^\/+/, "");
    for (const film of this.films) {
      if (film === null || !chosen(film)) continue;
      if (!this.polls.has(film.id)) {
        this.polls.set(film.id, new Poll(film, { address, heard: () => this.invalidate(), goesOn: () => film.active || this.bar.busy }));
      }
      this.polls.get(film.id).start();
    }
  }

  addRun(k) {
    const view = new RunView({
      stop: () => this.send("stop", k),
      look: (look) => this.lookAt(look),
      pin: (look) => this.pin(look),
      seek: (step) => this.reel.last >= 0 && this.reel.goNear(step),
      goTo: (frame) => this.reel.goNear(frame.step),
    });
    this.runs.push(view);
    this.stage.append(view.node);
  }

  /** Runs that had ended may live again under the same name, so all are asked again. */
  train() {
    this.opening = true;
    this.send("train", true);
    this.ask(() => true);
    this.invalidate();
  }

  /** A training is followed; what was finished already is shown as a film from its start. */
  open() {
    if (!this.opening || this.bar.busy || this.films.includes(null)) return;
    if (this.films.some((film) => film.state === "asking" || (film.state === "finished" && !film.complete))) return;
    this.opening = false;
    if (this.reel.active) this.reel.followLive(true);
    else if (this.films.every(({ state }) => state === "finished")) this.reel.play(0);
  }

  lookAt(look) {
    this.look = look;
    this.invalidate();
  }

  pin(look) {
    const same = JSON.stringify(look) === JSON.stringify(this.pinned);
    this.pinned = same ? null : look;
    this.invalidate();
  }

  unpin(event) {
    if (this.pinned === null) return;
    this.pinned = null;
    event.stopPropagation();
    this.invalidate();
  }

  /** However many polls and movements there are, one drawing in an animation frame. */
  invalidate() {
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.render(now);
    });
  }

  render(now) {
    this.bar.hear(this.films);
    this.tellEnded();
    this.reel.measure();
    this.open();
    this.reel.tick(now);
    const range = lossRange(this.reel.films);
    const looked = this.look ?? this.pinned;
    for (const view of this.runs) {
      view.readout.setAttribute("aria-live", this.reel.moving ? "off" : "polite");
      view.show(this.reel.step, range, looked);
    }
    this.transport.show();
    this.bar.show();
    this.view.dataset.step = this.reel.step;
  }

  layout() {
    if (this.header === null) return;
    for (const view of this.runs) view.layout();
    this.render(performance.now());
  }

  resize() {
    const width = this.view.clientWidth;
    if (this.header === null || width === this.width) return;
    this.width = width;
    this.layout();
  }

  stop() {
    for (const poll of this.polls.values()) poll.stop();
    this.polls.clear();
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.reel.playing = false;
    this.bar.rest();
    this.watcher.disconnect();
  }
}

export default function draw({ data, parentElement, setTriggerValue }) {
  const state = mounted(parentElement, SHEETS);
  const frame = unpack(data);
  state.latest = frame;
  state.ready.then(() => {
    // Gone again, or told something newer, before the style sheets came.
    if (state.latest !== frame) return;
    state.learn ??= new Learn(state.view);
    state.learn.send = setTriggerValue;
    state.learn.update(frame, state.theme);
  });
  return () => {
    state.latest = null;
    state.learn?.stop();
  };
}
