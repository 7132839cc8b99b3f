// What changed, in words: where the asking word looks in either sentence, and what the model answers there.

import { el, phrase, sentence, word } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { named } from "../shared/words.js";
import { onlyChange, strongest } from "./pairs.js";

const LETTERS = ["a", "b"];

function partsOf(frame, which) {
  const side = frame.sides[which];
  const row = frame.arrays[`row_${which}`].row(0);
  const best = strongest(row);
  return {
    asker: named(side.askers ?? side.tokens, side.token, "q strong"),
    key: named(side.tokens, best, "k strong"),
    weight: el("span", { class: "figure", text: percent(row[best]), title: exact(row[best]) }),
  };
}

const suffixed = (parts, letter) => Object.fromEntries(Object.entries(parts).map(([name, node]) => [`${name}_${letter}`, node]));

function both(frame) {
  const { strings, sides } = frame;
  const parts = { ...suffixed(partsOf(frame, 0), "a"), ...suffixed(partsOf(frame, 1), "b") };
  const change = onlyChange(sides, frame.pairs);
  if (change === null) return sentence(strings.statement_sides, parts);
  const [a, b] = change.map((position, k) => word(sides[k].tokens[position].shown));
  return sentence(strings.statement_words, { ...parts, word_a: a, word_b: b });
}

function lines(frame) {
  const here = [0, 1].filter((k) => frame.sides[k].token !== null);
  if (here.length === 2) return [both(frame)];
  const missing = [0, 1].filter((k) => !here.includes(k)).map((k) => [frame.strings[`no_asker_${LETTERS[k]}`]]);
  return [...here.map((k) => sentence(frame.strings[`statement_one_${LETTERS[k]}`], partsOf(frame, k))), ...missing];
}

function answerLine(frame) {
  const { strings, sides } = frame;
  const said = sides.map((side) => (side.token === null ? null : side.answers?.[side.token] ?? null));
  if (said.some((answer) => answer === null)) return null;
  const [a, b] = said.map((answer) => el("bdi", {
    class: "strong",
    title: exact(answer.probability),
    text: phrase(strings.answer, { word: answer.word, probability: percent(answer.probability) }),
  }));
  const { question } = said[0];
  return el("p", { class: "answers" }, sentence(strings[question ? "answers_asked" : "answers"], { question, answer_a: a, answer_b: b }));
}

/** What of a row the words beside it do not show: a head's sink, what is left out of this view. */
function elsewhere(frame) {
  const told = (key, weight) => (weight === null ? [] : [sentence(frame.strings[key], { weight: el("span", { class: "figure", text: percent(weight), title: exact(weight) }) })]);
  const parts = frame.sides.flatMap((side, k) => [...told(`no_key_${LETTERS[k]}`, side.no_key), ...told(`hidden_${LETTERS[k]}`, side.hidden)]);
  return parts.map((line) => el("p", { class: "note quiet" }, line));
}

export function statement(frame) {
  return [...lines(frame).map((line) => el("p", { class: "statement" }, line)), answerLine(frame), ...elsewhere(frame)].filter(Boolean);
}
