// How one weight came about, term by term, and what it hands over. All numbers come from the server's bill.
// Between whole words there is no bill: the cells of their pieces stand in its place.

import { signedColour } from "../shared/colour.js";
import { el, phrase, sentence } from "../shared/dom.js";
import { exact, fixed, percent, scientific } from "../shared/numbers.js";
import { named } from "../shared/words.js";
import { pieces } from "./pieces.js";

const MOST_TERMS = 16;
const LISTED_TERMS = 8; // One row of cells.

const figure = (value, digits, attributes = {}) => el("b", { class: "figure", text: fixed(value, digits), title: exact(value), ...attributes });
/** A positive number that is never written as zero. */
const small = (value) => el("b", { class: "figure", title: exact(value), text: value > 0 && value < 0.0005 ? scientific(value) : fixed(value, 3) });
const op = (...content) => el("span", { class: "op" }, ...content);
const stage = (node, name, role = "") => el("span", { class: `stage ${role}` }, node, el("small", { text: name }));

/** Which dimensions are written out: all of a narrow head, the largest of a wide one. */
function listed(products) {
  const all = products.map((_, d) => d);
  if (products.length <= MOST_TERMS) return all;
  const largest = [...all].sort((a, b) => Math.abs(products[b]) - Math.abs(products[a])).slice(0, LISTED_TERMS);
  return largest.sort((a, b) => a - b);
}

/** Small signed cells, eight to a line. cells: [{ value, title, text }] */
function strip(cells, theme, note) {
  const reach = Math.max(...cells.map(({ value }) => Math.abs(value)));
  const nodes = cells.map(({ value, title, text }) => {
    const { fill, ink } = signedColour(value, reach, theme);
    return el("span", { class: "strip-cell", text, title, style: { background: fill, color: ink } });
  });
  return el("div", { class: "strip" }, nodes, note ? el("span", { class: "quiet strip-note", text: note }) : null);
}

const plus = (value, digits) => (value < 0 ? fixed(value, digits) : `+${fixed(value, digits)}`);
/** Five signs fit a cell: large numbers go with one decimal, all of a strip alike. */
const digitsFor = (values) => (Math.max(...values.map(Math.abs)) >= 9.995 ? 1 : 2);

/** q · k, one product per dimension; the small ones of a wide head in one sum. */
function productLine({ products, q, k }, names, strings, theme) {
  const shown = listed(products);
  const digits = digitsFor(products);
  const cells = shown.map((d) => ({
    value: products[d],
    text: plus(products[d], digits),
    title: `${d}: ${exact(q[d])} × ${exact(k[d])} = ${exact(products[d])}`,
  }));
  const left = products.length - shown.length;
  const rest = products.reduce((sum, value, d) => (shown.includes(d) ? sum : sum + value), 0);
  const note = left > 0 ? phrase(strings.bill_rest, { count: left, sum: plus(rest, digits) }) : null;
  const product = [el("span", { class: "q" }, "q(", names.asker(), ")"), " · ", el("span", { class: "k" }, "k(", names.key(), ")"), " ="];
  return [el("p", { class: "dot" }, product), strip(cells, theme, note)];
}

/** ÷√8 where the scale is that, else × the scale. */
function scaleOp(bill) {
  const usual = Math.abs(bill.scale * Math.sqrt(bill.d_head) - 1) < 1e-9;
  return op(usual ? `÷ √${bill.d_head} =` : `× ${Number(bill.scale.toFixed(4))} =`);
}

const end = (value) => (value === null ? -Infinity : value);

/** What stands between the scaled score and what the softmax reads: a soft-cap, a position bias, both or neither. */
function scaledStages(bill, strings) {
  const scaled = end(bill.scaled);
  const last = stage(figure(scaled, 2), strings.stage_scaled);
  const steps = [];
  if (bill.capped !== null) {
    const cap = exact(bill.softcap);
    const title = `${exact(bill.softcap)} · tanh(${exact(bill.multiplied)} / ${exact(bill.softcap)})`;
    steps.push(figure(bill.multiplied, 2), op(el("span", { title, text: `→ ${cap}·tanh(… / ${cap}) =` })));
    steps.push(bill.has_bias ? stage(figure(bill.capped, 2), strings.stage_capped) : last);
  } else if (bill.has_bias) steps.push(figure(bill.multiplied, 2));
  if (!bill.has_bias) return steps.length > 0 ? steps : [last];
  const bias = end(bill.bias);
  return [...steps, op(bias < 0 ? "−" : "+"), stage(figure(Math.abs(bias), 2, { title: exact(bias) }), strings.stage_bias), op("="), last];
}

/** The row's sum, and how much of it is the sink's. */
function rowSum(bill, strings) {
  const sum = stage(figure(bill.row_sum, 3), strings.stage_row_sum);
  if (bill.sink_exp === null) return [sum];
  return [sum, op("("), stage(small(bill.sink_exp), strings.stage_sink), op(")")];
}

/** Without the sink that was left out, the rest of the row is made 1 again. */
function withoutSink(bill, strings) {
  if (bill.removed === null) return [];
  const removed = el("span", { title: exact(bill.removed), text: percent(bill.removed, 2) });
  const shown = el("b", { class: "figure", text: percent(bill.shown, 2), title: exact(bill.shown) });
  return [op("→ ÷ (1 − ", removed, ") ="), stage(shown, strings.stage_without_sink, "result")];
}

function flow(bill, strings) {
  const start = [op("="), stage(figure(bill.score, 2), strings.stage_score), scaleOp(bill), ...scaledStages(bill, strings)];
  const weight = el("b", { class: "figure", text: percent(bill.weight, 2), title: exact(bill.weight) });
  const result = stage(weight, strings.stage_weight, bill.removed === null ? "result" : "");
  if (!bill.allowed) {
    return el("div", { class: "flow" }, ...start, op("→"), stage(el("b", { text: "−∞" }), strings.stage_masked), op("→"), result);
  }
  const [scaled, largest] = [end(bill.scaled), end(bill.row_max)];
  const shifted = el("span", { title: `${exact(scaled)} − ${exact(largest)}`, text: `${fixed(scaled, 2)} − ${fixed(largest, 2)}` });
  return el("div", { class: "flow" }, ...start,
    op("→ exp(", shifted, ") ="), stage(small(bill.exp), strings.stage_exp), op("÷"),
    ...rowSum(bill, strings), op("="), result, ...withoutSink(bill, strings));
}

function vector(values, theme, strings) {
  const digits = digitsFor(values);
  const shown = values.length <= MOST_TERMS ? values.length : LISTED_TERMS;
  const cells = values.slice(0, shown).map((value) => ({ value, text: fixed(value, digits), title: exact(value) }));
  const left = values.length - cells.length;
  return strip(cells, theme, left > 0 ? phrase(strings.vector_rest, { count: left }) : null);
}

function handed(bill, names, strings, theme) {
  const weight = el("b", { class: "figure", text: percent(bill.weight, 2), title: exact(bill.weight) });
  const value = el("span", { class: "v" }, "v(", names.key("v"), ")");
  const output = el("span", { class: "o strong", text: strings.output_word });
  return [
    el("p", {}, sentence(strings.hands_over, { weight, value })),
    vector(bill.handed, theme, strings),
    el("p", {}, sentence(strings.hands_sum, { output, asker: names.asker("q") })),
  ];
}

const namesOf = (frame, { query, key }) => ({
  asker: (role = "") => named(frame.tokens, query, role),
  key: (role = "") => named(frame.keys ?? frame.tokens, key, role),
});

export class Bill {
  /** calls: walk() */
  constructor(calls) {
    this.title = el("h2");
    this.body = el("div", { class: "bill-body" });
    this.handsTitle = el("h2");
    this.hands = el("div", { class: "hands" });
    this.walk = el("button", { type: "button", class: "walk", onclick: () => calls.walk() });
    this.node = el("section", { class: "bill" }, this.title, this.body,
      el("div", { class: "hands-head" }, this.handsTitle, this.walk), this.hands);
  }

  /** A new frame. */
  update(frame, theme) {
    const { strings } = frame;
    this.walk.textContent = strings.walk;
    this.handsTitle.textContent = strings.hands_title;
    this.node.classList.toggle("empty", !frame.bill);
    this.node.classList.toggle("without", Boolean(frame.no_bill ?? frame.pieces));
    if (frame.bill) this.fill(frame, theme);
    else this.instead(frame, theme);
  }

  fill(frame, theme) {
    const { strings, arrays } = frame;
    const [q, k, products, given] = ["q", "k", "products", "handed"].map((name) => Array.from(arrays[`bill_${name}`].data));
    const bill = { ...frame.bill, q, k, products, handed: given };
    const names = namesOf(frame, bill);
    this.title.replaceChildren(...sentence(strings.bill_title, { asker: names.asker("q"), key: names.key("k") }));
    this.body.replaceChildren(...productLine(bill, names, strings, theme), flow(bill, strings));
    this.hands.replaceChildren(...handed(bill, names, strings, theme));
  }

  /** Why there is no bill, or what stands in its place. */
  instead(frame, theme) {
    const { strings } = frame;
    this.hands.replaceChildren();
    if (frame.pieces) {
      const names = namesOf(frame, frame.pieces);
      this.title.replaceChildren(...sentence(strings.pieces_title, { asker: names.asker("q"), key: names.key("k") }));
      this.body.replaceChildren(...pieces(frame, names, theme));
      return;
    }
    this.title.textContent = strings.bill_title_none;
    this.body.replaceChildren(el("p", { class: "quiet", text: frame.no_bill ?? strings.bill_none }));
  }

  /** Another cell was chosen and its bill is on the way: the old one stays, dimmed, under its own name. */
  wait(waiting) {
    this.node.setAttribute("aria-busy", String(waiting));
  }
}
