// Row by row: how spread each word's attention is, what its row adds up to, and what the model answers there.

import { el, phrase, sentence } from "../shared/dom.js";
import { exact, fixed, percent } from "../shared/numbers.js";
import { named, spoken } from "../shared/words.js";

const MOVED = 5e-4; // Less than this reads alike.
const figure = (value, digits) => el("span", { class: "figure", text: fixed(value, digits), title: exact(value) });

function pair(strings, before, after, hasMoved) {
  const parts = { before, after: hasMoved ? el("b", {}, after) : after };
  return sentence(strings.row_to, parts);
}

function numbers(frame, name, token, digits) {
  const [before, after] = ["before", "after"].map((side) => frame.arrays[`${name}_${side}`].at(0, token));
  return pair(frame.strings, figure(before, digits), figure(after, digits), Math.abs(after - before) >= MOVED);
}

function answer(word, share) {
  return el("span", { title: exact(share) }, el("bdi", { text: word }), " ", el("small", { class: "quiet figure", text: percent(share) }));
}

function answers({ answers: found, strings }, token) {
  const said = found[token];
  if (!said) return "";
  return pair(strings, answer(said.before, said.share), answer(said.after, said.share_after), said.before !== said.after);
}

function line(frame, token, ask) {
  const { tokens, asker, strings } = frame;
  const button = el("button", {
    type: "button", class: "follow", "data-position": token, "aria-pressed": String(token === asker),
    "aria-label": phrase(strings.ask, { word: spoken(tokens, token) }), onclick: () => ask(token),
  }, named(tokens, token, token === asker ? "q" : ""));
  const cell = (name, ...inside) => el("td", { "data-name": name }, el("span", { class: "narrow quiet", text: `${name} ` }), ...inside);
  const told = frame.answers.some(Boolean) ? [cell(strings.row_answer, ...[answers(frame, token)].flat())] : [];
  return el("tr", { class: token === asker ? "asking" : "" }, el("th", { scope: "row" }, button),
    cell(strings.row_entropy, ...numbers(frame, "entropy", token, 3)), cell(strings.row_sum, ...numbers(frame, "row_sum", token, 3)), ...told);
}

/** The whole table; ask(token) is called where a word is to be followed. */
export function rows(frame, ask) {
  const { strings } = frame;
  const names = [strings.row_name, strings.row_entropy, strings.row_sum, ...(frame.answers.some(Boolean) ? [strings.row_answer] : [])];
  return el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col", text: name })))),
    el("tbody", {}, frame.tokens.map((_, token) => line(frame, token, ask))));
}
