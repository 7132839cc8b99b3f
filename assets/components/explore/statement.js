// One sentence that says what is seen, and the line under the words that says how to choose.

import { el, sentence } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { named } from "../shared/words.js";
import { cellOf, hasKeys, stateAt, strongest, weightAt, weightsAround } from "./selection.js";

/** Nobody to name: the whole row or column is 0, or all of it is left out of this view. */
function withoutPartner(frame, token) {
  const { strings, direction } = frame;
  if (direction === "asks") return strings.statement_emptied;
  const isLeftOut = frame.left_out === token || frame.tokens.some((_, row) => stateAt(frame, row, token) === "hidden");
  return isLeftOut ? strings.statement_left_out : strings.statement_unseen;
}

function templateOf(frame, { token, key }, row, column) {
  const { strings, direction } = frame;
  if (token === null) return strings[`statement_idle_${direction}`];
  if (direction === "asks" && !hasKeys(frame, token)) return strings.statement_no_keys;
  if (weightsAround(frame, token) === null) return strings.statement_fetch;
  if (key === null) return withoutPartner(frame, token);
  const state = stateAt(frame, row, column);
  if (state === "nokeys") return strings.statement_no_keys;
  if (state !== "open") return strings[`statement_${state}`];
  if (direction === "asks") return strings.statement_asks;
  return key === strongest(frame, token) ? strings.statement_answers_top : strings.statement_answers;
}

function partsOf(frame, { token }, row, column) {
  const keys = frame.keys ?? frame.tokens;
  const parts = {};
  if (row !== null) parts.asker = named(frame.tokens, row, "q strong");
  if (column !== null) parts.key = named(keys, column, "k strong");
  if (token !== null) parts.token = frame.direction === "asks" ? named(frame.tokens, token, "q strong") : named(keys, token, "k strong");
  const weight = row !== null && column !== null ? weightAt(frame, row, column) : null;
  if (weight !== null) parts.weight = el("span", { class: "figure", text: percent(weight), title: exact(weight) });
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
      said.replaceChildren(...sentence(templateOf(frame, shown, row, column), partsOf(frame, shown, row, column)));
      said.classList.toggle("idle", shown.token === null);
      hint.textContent = frame.hint ?? "";
      hint.title = frame.hint ?? "";
    },
  };
}
