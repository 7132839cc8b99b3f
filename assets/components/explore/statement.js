// One sentence that says what is seen, and the line under the words that says how to choose.

import { el, sentence } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { named } from "../shared/words.js";
import { cellOf, hasKeys, isAllowed, strongest } from "./selection.js";

function templateOf(frame, { token, key }, row, column) {
  const { strings, direction } = frame;
  if (token === null) return strings[`statement_idle_${direction}`];
  if (direction === "asks" && !hasKeys(frame, token)) return strings.statement_no_keys;
  if (key === null) return strings.statement_unseen;
  if (!hasKeys(frame, row)) return strings.statement_no_keys;
  if (!isAllowed(frame, row, column)) return strings.statement_masked;
  if (direction === "asks") return strings.statement_asks;
  return key === strongest(frame, token) ? strings.statement_answers_top : strings.statement_answers;
}

function partsOf(frame, row, column) {
  const keys = frame.keys ?? frame.tokens;
  const parts = {};
  if (row !== null) parts.asker = named(frame.tokens, row, "q strong");
  if (column !== null) parts.key = named(keys, column, "k strong");
  if (row !== null && column !== null) {
    const weight = frame.arrays.weights.at(row, column);
    parts.weight = el("span", { class: "figure", text: percent(weight), title: exact(weight) });
  }
  return parts;
}

/** What the small figures under the words are; at a word that is asked a question, question and answer. */
export function answerHint({ answers, strings, tokens }, token) {
  const answer = answers?.[token ?? -1];
  if (!answer?.question) return [answers ? strings.hint_answers : ""];
  const word = el("b", { text: answer.word });
  const probability = el("span", { class: "figure", text: percent(answer.probability), title: exact(answer.probability) });
  return sentence(strings.hint_asked, { ...answer, token: named(tokens, token), word, probability });
}

export function createStatement() {
  const said = el("span", { class: "said" });
  const hint = el("span", { class: "quiet hint" });
  const node = el("p", { class: "statement" }, said, " ", hint);
  return {
    node,
    show(frame, shown) {
      const [row, column] = cellOf(frame.direction, shown);
      said.replaceChildren(...sentence(templateOf(frame, shown, row, column), partsOf(frame, row, column)));
      said.classList.toggle("idle", shown.token === null);
      hint.textContent = frame.hint ?? "";
      hint.title = frame.hint ?? "";
    },
  };
}
