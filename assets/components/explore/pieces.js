// What a cell between two whole words is made of: the cells of their pieces, summed over those that answer and averaged
// over those that ask.

import { weightColour } from "../shared/colour.js";
import { el, phrase, sentence } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { named } from "../shared/words.js";

const total = (values) => values.reduce((sum, value) => sum + value, 0);

function weightCell(weight, theme) {
  const { fill, ink } = weightColour(weight, theme);
  return el("td", { text: percent(weight, 2), title: exact(weight), style: { background: fill, color: ink } });
}

function table({ arrays, pieces, strings }, theme) {
  const { pieces: weights } = arrays;
  const sums = pieces.asks.map((_, i) => total(Array.from(weights.row(i))));
  const head = el("tr", {}, el("td"), pieces.answers.map((_, j) => el("th", { scope: "col" }, named(pieces.answers, j, "k"))),
    el("th", { scope: "col", class: "quiet", text: strings.pieces_sum }));
  const rows = pieces.asks.map((_, i) => el("tr", {}, el("th", { scope: "row" }, named(pieces.asks, i, "q")),
    pieces.answers.map((__, j) => weightCell(weights.at(i, j), theme)),
    el("td", { class: "sum", text: percent(sums[i], 2), title: exact(sums[i]) })));
  const mean = el("tr", {}, el("th", { scope: "row", class: "quiet", text: strings.pieces_mean }),
    pieces.answers.map(() => el("td")), el("td", { class: "sum", text: percent(pieces.weight, 2), title: exact(pieces.weight) }));
  return el("div", { class: "pieces-room" }, el("table", { class: "pieces" }, el("thead", {}, head), el("tbody", {}, rows, mean)));
}

/** The nodes that say how the cell of two words came about. */
export function pieces(frame, names, theme) {
  const { strings } = frame;
  const told = frame.pieces;
  const weight = el("b", { class: "figure", text: percent(told.weight, 2), title: exact(told.weight) });
  const said = el("p", {}, sentence(strings.pieces_said, { asker: names.asker("q"), key: names.key("k"), weight }));
  if (told.asks !== null) return [said, table(frame, theme)];
  return [said, el("p", { class: "quiet", text: phrase(strings.pieces_many, { asks: told.n_asks, answers: told.n_answers }) })];
}
