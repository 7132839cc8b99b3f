// The sentence as a line of words with arcs over it. Too long for one line: the words wrap, shading and percentages
// take the place of the arcs. Cross-attention has two lines: the answering words above, the asking words below.

import { createArcs } from "./arcs.js";
import { chipColour } from "./colour.js";
import { el, phrase, word } from "./dom.js";
import { percent } from "./numbers.js";
import { fillTo, single, spoken } from "./words.js";

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

function dressUnit(unit, tokens, position, model) {
  const { chip, answer } = unit.parts;
  const token = tokens[position];
  unit.dataset.position = position;
  chip.dataset.position = position;
  chip.replaceChildren(word(token.shown));
  chip.classList.toggle("special", Boolean(token.special));
  chip.classList.toggle("unknown", Boolean(token.unknown));
  const told = token.unknown ? "unknown_word" : token.special ? "special_name" : null;
  chip.title = told === null ? token.shown : phrase(model.strings[told], { word: token.shown });
  chip.setAttribute("aria-label", phrase(model.strings.chip_name, { word: spoken(tokens, position), position }));
  unit.parts.position.textContent = position;
  dressAnswer(answer, tokens === model.tokens ? model.answers?.[position] : null, spoken(tokens, position), model.strings);
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
    this.node.setAttribute("aria-label", model.strings[this.side === "askers" ? "ribbon_name" : "ribbon_keys_name"]);
    this.settle(Math.min(this.home, tokens.length - 1));
  }

  /** One word of the line is in the tab order. */
  settle(position) {
    this.home = position;
    this.units.forEach((unit, i) => unit.parts.chip.setAttribute("tabindex", i === position ? "0" : "-1"));
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
      this.keys.node, this.arcs.node, this.askers.node);
  }

  /** model: { tokens, keys, crossed, answers, strings, theme, direction, weights } */
  update(model) {
    this.model = model;
    this.shown = null;
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
    for (const fit of ["roomy", "tight", "wrap"]) {
      this.node.dataset.fit = fit;
      if (lines.every(({ node }) => node.scrollWidth <= this.node.clientWidth + 1)) break;
    }
    this.spread(lines);
    const left = this.node.getBoundingClientRect().left;
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    this.places = { askers: this.askers.centres(left) };
    this.places.keys = this.model.crossed ? this.keys.centres(left) : this.places.askers;
    const reach = Math.max(...this.places.askers) - Math.min(...this.places.askers);
    const height = size * (this.model.tokens.length === 1 ? 4.5 : this.model.crossed ? 7 : 8.2);
    this.room = { width: this.node.clientWidth, height, reach, labelHeight: size * 1.15, crossed: this.model.crossed };
    if (this.shown) this.show(this.shown);
  }

  /** Words in one line stand a little apart, if there is room; characters less, so that they still read as a text. */
  spread(lines) {
    const size = parseFloat(getComputedStyle(this.node).fontSize);
    const isText = [...this.model.tokens, ...this.model.keys].every(({ shown, special }) => special || single(shown));
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
    const values = shown.token === null ? null : this.valuesOf(shown.token);
    this.clear();
    if (values !== null) this.shade(this.lineOf(other), values, direction, shown);
    this.mark(this.lineOf(own), shown);
    if (this.node.dataset.fit === "wrap") {
      this.arcs.draw([], this.room);
      return;
    }
    this.arcs.draw(values === null ? this.idleArcs(own) : this.arcsOf(shown.token, values), this.room);
  }

  valuesOf(token) {
    const { weights, direction } = this.model;
    return Array.from(direction === "asks" ? weights.row(token) : weights.column(token));
  }

  clear() {
    for (const line of this.model.crossed ? [this.askers, this.keys] : [this.askers]) {
      for (const { parts } of line.units) {
        parts.chip.classList.remove("shown", "locked", "partner");
        parts.chip.style.cssText = "";
        parts.chip.setAttribute("aria-pressed", "false");
        parts.share.textContent = "";
      }
    }
  }

  shade(line, values, direction, shown) {
    line.units.forEach(({ parts }, i) => {
      const { fill, ink } = chipColour(values[i], this.model.theme, direction === "asks" ? "key" : "query");
      parts.chip.style.cssText = `background:${fill};color:${ink}`;
      parts.chip.classList.toggle("partner", i === shown.key);
      parts.share.textContent = values[i] >= 0.005 ? percent(values[i], 0) : "";
    });
  }

  mark(line, shown) {
    line.units.forEach(({ parts }, i) => {
      const locked = i === shown.locked;
      if (i === shown.token) {
        parts.chip.style.cssText = "";
        parts.chip.classList.add("shown");
      }
      parts.chip.classList.toggle("locked", locked);
      parts.chip.setAttribute("aria-pressed", String(locked));
    });
    if (shown.locked !== null && !line.node.contains(line.node.getRootNode().activeElement)) line.settle(shown.locked);
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
    return values.map((weight, i) => this.arc(token, i, weight, role));
  }

  /** Nothing chosen: every word's strongest arc, faint. */
  idleArcs(own) {
    return this.places[own].map((_, token) => {
      const values = this.valuesOf(token);
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
