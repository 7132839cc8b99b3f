// The sentence as a line of words with arcs over it. Too long for one line: the words wrap, shading and percentages
// take the place of the arcs; much too long: they scroll in their own room. Cross-attention has two lines: the asking
// words above, the answering words below.

import { createArcs } from "./arcs.js";
import { chipColour } from "./colour.js";
import { el, phrase, word } from "./dom.js";
import { percent } from "./numbers.js";
import { fillTo, repeated, single, spoken, told } from "./words.js";

const LONG = 64; // More words are not even tried in one line.
const MARKS = ["shown", "locked", "partner", "left-out"];

const largest = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

function makeUnit() {
  const chip = el("button", { class: "chip", type: "button", tabindex: "-1" });
  const position = el("span", { class: "position" });
  const share = el("span", { class: "share" });
  const under = el("span", { class: "under", "aria-hidden": "true" }, position, share);
  const answer = el("button", { class: "answer", type: "button", tabindex: "-1" });
  const unit = el("div", { class: "unit" }, chip, under, answer);
  unit.parts = { chip, position, share, answer };
  return unit;
}

function dressAnswer(button, answer, token, strings) {
  button.hidden = !answer;
  if (!answer) return;
  button.replaceChildren(word(answer.word, { class: "answer-word" }), el("span", { text: percent(answer.probability, 0) }));
  const parts = { ...answer, token, probability: percent(answer.probability, 2) };
  const name = phrase(strings[answer.question ? "answer_asked" : "answer_name"], parts);
  button.setAttribute("aria-label", name);
  button.title = name;
}

/** A word is written to only where something changed: there may be thousands of them. */
function dressUnit(unit, tokens, position, model) {
  const { chip, answer } = unit.parts;
  const token = tokens[position];
  const isSink = position === model.sink && tokens === model.keys;
  const starts = model.isPair && (position === 0 || tokens[position - 1].segment !== token.segment);
  const answered = tokens === model.tokens ? model.answers?.[position] : null;
  const { chip_name: language, unknown_word: wording } = model.strings;
  const dress = JSON.stringify([position, token, repeated(tokens).has(position), answered, isSink, starts, language, wording]);
  if (unit.dress === dress) return;
  unit.dress = dress;
  unit.dataset.position = position;
  chip.dataset.position = position;
  chip.replaceChildren(word(token.shown));
  chip.classList.toggle("special", Boolean(token.special));
  chip.classList.toggle("unknown", Boolean(token.unknown));
  chip.classList.toggle("added", Boolean(token.added));
  chip.title = told(tokens, position, model.strings, isSink);
  chip.setAttribute("aria-label", phrase(model.strings.chip_name, { word: spoken(tokens, position), position }));
  unit.toggleAttribute("data-sink", isSink);
  unit.parts.position.textContent = isSink ? `${position} · ${model.strings.sink_mark}` : position;
  if (starts) unit.dataset.starts = token.segment ? "B" : "A";
  else delete unit.dataset.starts;
  dressAnswer(answer, answered, spoken(tokens, position), model.strings);
}

class Line {
  constructor(side, ribbon) {
    this.side = side;
    this.home = 0;
    this.node = el("div", { class: `line ${side}`, role: "toolbar" });
    for (const name of ["pointerover", "focusin", "click", "keydown"]) {
      this.node.addEventListener(name, (event) => ribbon.hear(name, event, this));
    }
  }

  fill(tokens, model) {
    this.units = fillTo(this.node, tokens.length, makeUnit);
    this.units.forEach((unit, i) => dressUnit(unit, tokens, i, model));
    this.node.dataset.long = tokens.length > LONG;
    this.node.setAttribute("aria-label", model.strings[this.side === "askers" ? "ribbon_name" : "ribbon_keys_name"]);
    this.settle(Math.min(this.home, tokens.length - 1));
  }

  /** One word of the line is in the tab order. */
  settle(position) {
    const before = this.units[this.home];
    this.home = position;
    if (before !== this.units[position]) before?.parts.chip.setAttribute("tabindex", "-1");
    this.units[position].parts.chip.setAttribute("tabindex", "0");
  }

  /** looks: per word { css, marks (some of MARKS), share }. */
  paint(looks) {
    this.units.forEach((unit, i) => {
      const { css, marks, share } = looks[i];
      const look = `${css}|${marks}|${share}`;
      if (unit.look === look) return;
      unit.look = look;
      const { chip } = unit.parts;
      chip.style.cssText = css;
      for (const mark of MARKS) chip.classList.toggle(mark, marks.includes(mark));
      chip.setAttribute("aria-pressed", String(marks.includes("locked")));
      if (unit.parts.share.textContent !== share) unit.parts.share.textContent = share;
    });
  }

  /** A line that scrolls brings a word into its room. */
  reveal(position) {
    if (this.node.dataset.long !== "true") return;
    const { offsetTop, offsetHeight: height } = this.units[position];
    const { scrollTop, clientHeight } = this.node;
    const top = offsetTop - this.node.offsetTop;
    if (top < scrollTop || top + height > scrollTop + clientHeight) this.node.scrollTop = top - (clientHeight - height) / 2;
  }

  centres(left) {
    return this.units.map(({ parts }) => {
      const box = parts.chip.getBoundingClientRect();
      return box.left + box.width / 2 - left;
    });
  }
}

export class Ribbon {
  /** calls: preview(side, position), leave(), choose(side, position), answer(position) */
  constructor(calls) {
    this.calls = calls;
    this.askers = new Line("askers", this);
    this.keys = new Line("keys", this);
    this.arcs = createArcs();
    this.node = el("div", { class: "ribbon", onpointerleave: () => calls.leave() },
      this.askers.node, this.arcs.node, this.keys.node);
  }

  /**
   * model: { tokens, keys, crossed, answers, sink, isPair, strings, theme, direction, around, isHidden }; around(token) →
   * the weights of its row or column, or null where they are not known; isHidden(token, partner) → left out of the view?
   */
  update(model) {
    this.model = model;
    this.shown = null;
    this.revealed = null;
    this.node.dataset.crossed = model.crossed;
    this.node.dataset.direction = model.direction;
    this.askers.fill(model.tokens, model);
    this.keys.node.hidden = !model.crossed;
    if (model.crossed) this.keys.fill(model.keys, model);
    this.layout();
  }

  lineOf(side) {
    return side === "keys" && this.model.crossed ? this.keys : this.askers;
  }

  /** Roomy if it fits, else tight, else wrapped. */
  layout() {
    const lines = this.model.crossed ? [this.askers, this.keys] : [this.askers];
    for (const { node } of lines) node.style.gap = "";
    const isLong = lines.some(({ units }) => units.length > LONG);
    for (const fit of isLong ? ["wrap"] : ["roomy", "tight", "wrap"]) {
      this.node.dataset.fit = fit;
      if (lines.every(({ node }) => node.scrollWidth <= this.node.clientWidth + 1)) break;
    }
    this.spread(lines);
    const isWrapped = this.node.dataset.fit === "wrap"; // Without arcs, nobody asks where the words stand.
    const left = this.node.getBoundingClientRect().left;
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    this.places = { askers: isWrapped ? [0] : this.askers.centres(left) };
    this.places.keys = this.model.crossed && !isWrapped ? this.keys.centres(left) : this.places.askers;
    const reach = Math.max(...this.places.askers) - Math.min(...this.places.askers);
    const height = size * (this.model.tokens.length === 1 ? 4.5 : this.model.crossed ? 7 : 8.2);
    this.room = { width: this.node.clientWidth, height, reach, labelHeight: size * 1.15, crossed: this.model.crossed };
    if (this.shown) this.show(this.shown);
  }

  /** Words in one line stand a little apart, if there is room; characters less, so that they still read as a text. */
  spread(lines) {
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    const isSign = ({ shown, special }) => special || (shown.length < 12 && single(shown));
    const isText = [...this.model.tokens, ...this.model.keys].every(isSign);
    const widest = size * (isText ? 0.8 : 1.7);
    this.node.dataset.characters = isText;
    for (const { node, units } of lines) {
      if (this.node.dataset.fit === "wrap" || units.length < 2) continue;
      const free = this.node.clientWidth - units.reduce((sum, unit) => sum + unit.offsetWidth, 0);
      node.style.gap = `${Math.max(Math.min(free / (units.length - 1) - 0.5, widest), 0)}px`;
    }
  }

  /** shown: { token, key, locked } on the side that the direction names; token null: nothing is chosen. */
  show(shown) {
    this.shown = shown;
    const { direction } = this.model;
    const [own, other] = direction === "asks" ? ["askers", "keys"] : ["keys", "askers"];
    const values = shown.token === null ? null : this.model.around(shown.token);
    const lines = this.model.crossed ? [this.askers, this.keys] : [this.askers];
    for (const line of lines) line.paint(this.looks(line, line === this.lineOf(own), line === this.lineOf(other) ? values : null, shown));
    this.settle(this.lineOf(own), shown.locked);
    if (this.node.dataset.fit === "wrap") {
      this.arcs.draw([], this.room);
      return;
    }
    this.arcs.draw(values === null ? this.idleArcs(own) : this.arcsOf(shown.token, values), this.room);
  }

  /** How the words of a line look: those of the partners' side shaded by their weights, the chosen ones marked. */
  looks(line, isOwn, values, shown) {
    const { theme, direction } = this.model;
    return line.units.map((_, i) => {
      const look = { css: "", marks: [], share: "" };
      if (values !== null) {
        const { fill, ink } = chipColour(values[i], theme, direction === "asks" ? "key" : "query");
        look.css = `background:${fill};color:${ink}`;
        look.share = values[i] >= 0.005 ? percent(values[i], 0) : "";
        if (i === shown.key) look.marks.push("partner");
        if (i !== shown.token && this.model.isHidden(shown.token, i)) look.marks.push("left-out");
      }
      if (isOwn && i === shown.token) {
        look.css = "";
        look.marks.push("shown");
      }
      if (isOwn && i === shown.locked) look.marks.push("locked");
      return look;
    });
  }

  /** The locked word is the one that Tab reaches, and in sight where the line scrolls. */
  settle(line, locked) {
    if (locked === null || locked === this.revealed) return;
    this.revealed = locked;
    line.reveal(locked);
    if (!line.node.contains(line.node.getRootNode().activeElement)) line.settle(locked);
  }

  /** The arc between a word of the chosen side and its partner on the other one; drawn from the one who asks. */
  arc(token, partner, weight, role) {
    const asks = this.model.direction === "asks";
    const [query, key] = asks ? [token, partner] : [partner, token];
    const [from, to] = this.model.crossed || asks ? [query, key] : [key, query];
    const [start, end] = this.model.crossed || asks ? ["askers", "keys"] : ["keys", "askers"];
    return {
      query, key, weight, role,
      from: this.places[start][from],
      to: this.places[end][to],
      self: query === key && !this.model.crossed,
      labelled: role !== "idle",
    };
  }

  arcsOf(token, values) {
    const role = this.model.direction === "asks" ? "key" : "query";
    return Array.from(values, (weight, i) => this.arc(token, i, weight, role));
  }

  /** Nothing chosen: every word's strongest arc, faint. */
  idleArcs(own) {
    return this.places[own].map((_, token) => {
      const values = this.model.around(token);
      const partner = largest(values);
      return this.arc(token, partner, values[partner], "idle");
    });
  }

  hear(name, event, line) {
    const unit = event.target.closest?.(".unit");
    if (!unit) return;
    const position = Number(unit.dataset.position);
    const onAnswer = event.target.closest(".answer") !== null;
    if (name === "click") {
      if (onAnswer) this.calls.answer(position);
      else if (event.target.closest(".chip")) this.calls.choose(this.sideOf(line), position);
    } else if (name === "keydown") this.move(event, line, position, onAnswer);
    else if (name === "focusin" || event.pointerType !== "touch") this.calls.preview(this.sideOf(line), position);
  }

  sideOf(line) {
    if (this.model.crossed) return line.side;
    return this.model.direction === "asks" ? "askers" : "keys";
  }

  /** Left and right: the next word; down and up: between a word and what the model answers there. */
  move(event, line, position, onAnswer) {
    const last = line.units.length - 1;
    const to = { ArrowLeft: position - 1, ArrowRight: position + 1, Home: 0, End: last, ArrowDown: position, ArrowUp: position }[event.key];
    if (to === undefined || to < 0 || to > last) return;
    event.preventDefault();
    const below = event.key === "ArrowDown" || (onAnswer && event.key !== "ArrowUp");
    const { chip, answer } = line.units[to].parts;
    line.settle(to);
    (below && !answer.hidden ? answer : chip).focus();
  }
}
