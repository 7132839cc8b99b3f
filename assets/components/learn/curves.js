// The curves of one run: the loss on a logarithmic scale; the pattern's figure and the held-out figure from 0 to 1.

import { el, phrase } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { Panel } from "./panel.js";

const LEAST_LOSS = 1e-6;
const LEAST_SPAN = 4; // A loss that stays flat is drawn flat, not enlarged until it looks like a change.

const short = (value) => (value >= 1 ? fixed(value, 2) : String(Number(value.toPrecision(2))));

/** The range of the loss over these films, or null. */
export function lossRange(films) {
  const values = films.flatMap((film) => film.frames.map(({ loss }) => loss)).filter((loss) => typeof loss === "number");
  if (values.length === 0) return null;
  const low = Math.max(values.reduce((a, b) => Math.min(a, b)), LEAST_LOSS);
  const high = Math.max(values.reduce((a, b) => Math.max(a, b)), low);
  const wider = Math.max(Math.sqrt(LEAST_SPAN / (high / low)), 1.08);
  return [low / wider, high * wider];
}

function lossScale([low, high]) {
  const up = (value) => Math.log(Math.max(value, LEAST_LOSS) / low) / Math.log(high / low);
  const decades = Math.log10(high / low);
  const factors = decades > 2.5 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value >= low && value <= high) ticks.push([value, String(Number(value.toPrecision(2)))]);
    }
  }
  return { up, ticks };
}

const FIGURES = { up: (value) => Math.min(Math.max(value, 0), 1), ticks: [[0, "0"], [0.5, "0.5"], [1, "1"]] };

export class Curves {
  constructor(model, seek) {
    const { strings } = model;
    this.model = model;
    this.loss = new Panel([{ name: "loss", of: (frame) => frame.loss }], seek);
    this.figures = new Panel([
      { name: "pattern", of: (frame) => frame.pattern },
      { name: "held-out", of: (frame) => frame.held_out },
    ], seek);
    const key = (panel, k, text) => el("span", { class: "curve-key" }, el("span", { class: `swatch ${panel.series[k].name}` }), el("span", { text }), " ", panel.values[k]);
    this.node = el("section", { class: "curves" },
      el("h3", {}, strings.curves_title, " ", el("span", { class: "quiet aside", text: strings.curves_aside })),
      el("div", { class: "curve-keys" }, key(this.loss, 0, strings.loss)), this.loss.node,
      el("div", { class: "curve-keys" }, key(this.figures, 0, model.pattern_label), key(this.figures, 1, model.held_out_label)), this.figures.node,
      el("div", { class: "step-axis quiet", "aria-hidden": "true", text: strings.step }));
    this.drawn = "";
  }

  layout(width, size, projector) {
    const text = size * (projector ? 0.9 : 0.75);
    this.room = { width, left: text * 3.2, right: text * 1.2, top: 6, dot: size * 0.28, text };
    this.drawn = "";
  }

  /** Drawn anew only when frames or the range have changed. */
  draw(film, range) {
    if (!this.room || range === null) return;
    const { steps, strings } = this.model;
    const key = `${film.frames.length} ${film.newest?.step} ${range}`;
    if (key === this.drawn) return;
    this.drawn = key;
    const { text, ...room } = this.room;
    const last = Math.max(steps, film.newest?.step ?? 0, 1);
    this.loss.lay({ ...room, height: text * 7, bottom: 6 }, lossScale(range), last, false);
    this.figures.lay({ ...room, height: text * 8.2, bottom: text * 1.5 }, FIGURES, last, true);
    for (const panel of [this.loss, this.figures]) panel.draw(film.frames, film.moment);
    if (film.frames.length === 0) return;
    const ends = (of) => [film.frames[0], film.newest].map(of);
    const write = ([from, to], name, figure) => phrase(strings.curve_name, { name, from: figure(from), to: figure(to), step: film.newest.step });
    const known = (figure) => (value) => (typeof value === "number" ? figure(value) : "–");
    this.loss.node.setAttribute("aria-label", write(ends((f) => f.loss), strings.loss, known(short)));
    this.figures.node.setAttribute("aria-label", [
      write(ends((f) => f.pattern), this.model.pattern_label, known((v) => fixed(v, 2))),
      write(ends((f) => f.held_out), this.model.held_out_label, known((v) => fixed(v, 2))),
    ].join(" "));
  }

  point(frame) {
    if (!this.drawn) return;
    this.loss.point(frame, short);
    this.figures.point(frame, (value) => fixed(value, 2));
  }
}
