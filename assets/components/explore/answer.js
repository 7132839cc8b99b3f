// The exact sum behind what the model answers at a word: embedding + each layer's output, through the read-out.

import { el, phrase, sentence } from "../shared/dom.js";
import { exact, fixed, percent } from "../shared/numbers.js";
import { named } from "../shared/words.js";

const LISTED = 6;
const NEGLIGIBLE = 1e-9;

const number = (value, digits = 2) => el("b", { class: "figure", text: fixed(value, digits), title: exact(value) });
const total = (values) => values.reduce((sum, value) => sum + value, 0);

function row(name, value, note = null, className = "") {
  return el("tr", { class: className },
    el("th", { scope: "row" }, name),
    el("td", { class: "amount" }, typeof value === "number" ? number(value) : value),
    el("td", { class: "note" }, note));
}

function contribution(entry, frame, word, strings) {
  const keys = frame.keys ?? frame.tokens;
  const says = entry.weight > 0 ? entry.logit / entry.weight : 0;
  const heads = new Set(frame.answer_sum.parts.flatMap((part) => (part.words ?? []).map(({ head }) => head)));
  const from = [named(keys, entry.token, "k"), heads.size > 1 ? ` (${phrase(strings.sum_head, { head: entry.head })})` : null];
  const parts = {
    weight: el("span", { class: "figure", text: percent(entry.weight, 2), title: exact(entry.weight) }),
    says: el("span", { class: "figure", text: fixed(says, 2), title: exact(says) }),
    word: el("bdi", { text: word }),
  };
  return row(from, entry.logit, sentence(strings.sum_word, parts), "word-part");
}

/** The words of one layer: the strongest by name, the others and what no word brought in one line each. */
function contributions(part, frame, word, strings) {
  if (!part.words) return [];
  const sorted = [...part.words].sort((a, b) => Math.abs(b.logit) - Math.abs(a.logit));
  const rows = sorted.slice(0, LISTED).map((entry) => contribution(entry, frame, word, strings));
  const rest = sorted.slice(LISTED);
  if (rest.length > 0) {
    rows.push(row(phrase(strings.sum_rest, { count: rest.length }), total(rest.map(({ logit }) => logit)), null, "word-part"));
  }
  const unexplained = part.logit - total(sorted.map(({ logit }) => logit));
  if (Math.abs(unexplained) > NEGLIGIBLE) rows.push(row(strings.sum_other, unexplained, null, "word-part"));
  return rows;
}

function partRows(part, frame, word, strings) {
  const name = phrase(strings[`sum_${part.part}`], { layer: part.layer });
  if (!part.reads) return [row(name, part.logit, strings[part.is_later ? "sum_later" : "sum_not_read"], "unread")];
  const note = part.words ? strings.sum_of_words : null;
  return [row(name, part.logit, note, "part"), ...contributions(part, frame, word, strings)];
}

function table(frame, strings) {
  const answer = frame.answer_sum;
  const word = answer.word;
  const logit = total(answer.parts.map((part) => part.logit));
  const rows = answer.parts.flatMap((part) => partRows(part, frame, word, strings));
  const sum = row(el("span", {}, "= ", sentence(strings.sum_logit, { word: el("bdi", { text: word }) })), logit,
    Math.abs(logit - answer.logit) > NEGLIGIBLE ? el("span", { class: "bad", text: phrase(strings.sum_differs, { logit: exact(answer.logit) }) }) : null, "sum");
  const steps = [`exp(${fixed(answer.logit, 2)} − `, el("span", { text: fixed(answer.log_sum_exp, 2), title: exact(answer.log_sum_exp) }), ")"];
  const probability = el("b", { class: "figure", text: percent(answer.probability, 2), title: exact(answer.probability) });
  const softmax = row("→ softmax", probability, [...steps, " · ", el("span", { class: "quiet", text: strings.sum_softmax })], "sum");
  return el("table", { class: "sum-table" }, el("tbody", {}, rows, sum, softmax));
}

/** The likeliest answers, where the sum behind them is not known. */
function list({ answers }, strings) {
  const head = el("tr", {}, ["panel_word", "panel_probability", "panel_logit"].map((name) => el("th", { scope: "col", text: strings[name] })));
  const rows = answers.map(({ word, probability, logit }) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", { text: word })),
    el("td", { class: "amount", text: percent(probability, 2), title: exact(probability) }),
    el("td", { class: "amount", text: fixed(logit, 2), title: exact(logit) })));
  return el("table", { class: "sum-table answer-list" }, el("thead", {}, head), el("tbody", {}, rows));
}

export class AnswerPanel {
  /** calls: close() */
  constructor(calls) {
    this.title = el("h2");
    this.body = el("div", { class: "panel-body" });
    this.close = el("button", { type: "button", class: "close", text: "×", onclick: () => calls.close() });
    this.node = el("section", { class: "panel", hidden: true }, el("div", { class: "panel-head" }, this.title, this.close), this.body);
  }

  /** open: the token whose answer is asked for, or null. */
  show(frame, open, waiting) {
    this.node.hidden = open === null;
    if (open === null) return;
    const { strings } = frame;
    const known = frame.answer_sum?.token === open;
    const isListed = frame.answer_list?.token === open;
    this.close.setAttribute("aria-label", strings.close);
    this.close.title = strings.close;
    this.title.replaceChildren(...sentence(strings.panel_title, { token: named(frame.tokens, open, "q") }));
    this.node.setAttribute("aria-busy", String(!known && !isListed && waiting));
    if (known) this.body.replaceChildren(el("p", { class: "quiet", text: strings.panel_intro }), table(frame, strings));
    else if (isListed) this.body.replaceChildren(el("p", { class: "quiet", text: strings.panel_list }), list(frame.answer_list, strings));
    else this.body.replaceChildren(el("p", { class: "quiet", text: waiting ? strings.panel_wait : strings.panel_none }));
  }
}
