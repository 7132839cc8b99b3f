// How one weight came about, term by term, and what it hands over. All numbers come from the server's bill.

import { signedColour } from "../shared/colour.js";
import { el, phrase, sentence } from "../shared/dom.js";
import { exact, fixed, percent, scientific } from "../shared/numbers.js";
import { named } from "../shared/words.js";

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
function productLine(bill, names, strings, theme) {
  const shown = listed(bill.products);
  const digits = digitsFor(bill.products);
  const cells = shown.map((d) => ({
    value: bill.products[d],
    text: plus(bill.products[d], digits),
    title: `${d}: ${exact(bill.q[d])} × ${exact(bill.k[d])} = ${exact(bill.products[d])}`,
  }));
  const left = bill.products.length - shown.length;
  const rest = bill.products.reduce((sum, value, d) => (shown.includes(d) ? sum : sum + value), 0);
  const note = left > 0 ? phrase(strings.bill_rest, { count: left, sum: plus(rest, digits) }) : null;
  const product = [el("span", { class: "q" }, "q(", names.asker(), ")"), " · ", el("span", { class: "k" }, "k(", names.key(), ")"), " ="];
  return [el("p", { class: "dot" }, product), strip(cells, theme, note)];
}

/** ÷√8 where the scale is that, else × the scale. */
function scaleOp(bill) {
  const usual = Math.abs(bill.scale * Math.sqrt(bill.d_head) - 1) < 1e-9;
  return op(usual ? `÷ √${bill.d_head} =` : `× ${fixed(bill.scale, 4)} =`);
}

/** What the softmax read: `scaled` with the position bias, whether or not the bill's `scaled` holds it already. */
function readBySoftmax(bill) {
  if (bill.bias === null || !bill.allowed || bill.exp === 0) return bill.scaled;
  const read = bill.row_max + Math.log(bill.exp);
  return [bill.scaled, bill.scaled + bill.bias].sort((a, b) => Math.abs(a - read) - Math.abs(b - read))[0];
}

function scaledStages(bill, strings, scaled) {
  const end = stage(figure(scaled, 2), strings.stage_scaled);
  if (bill.bias === null) return [end];
  return [figure(bill.score * bill.scale, 2), op(bill.bias < 0 ? "−" : "+"),
    stage(figure(Math.abs(bill.bias), 2, { title: exact(bill.bias) }), strings.stage_bias), op("="), end];
}

function flow(bill, strings) {
  const scaled = readBySoftmax(bill);
  const start = [op("="), stage(figure(bill.score, 2), strings.stage_score), scaleOp(bill), ...scaledStages(bill, strings, scaled)];
  const weight = el("b", { class: "figure", text: percent(bill.weight, 2), title: exact(bill.weight) });
  const result = stage(weight, strings.stage_weight, "result");
  if (!bill.allowed) {
    return el("div", { class: "flow" }, ...start, op("→"), stage(el("b", { text: "−∞" }), strings.stage_masked), op("→"), result);
  }
  const shifted = el("span", { title: `${exact(scaled)} − ${exact(bill.row_max)}`, text: `${fixed(scaled, 2)} − ${fixed(bill.row_max, 2)}` });
  return el("div", { class: "flow" }, ...start,
    op("→ exp(", shifted, ") ="), stage(small(bill.exp), strings.stage_exp), op("÷"),
    stage(figure(bill.row_sum, 3), strings.stage_row_sum), op("="), result);
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
    vector(bill.weighted_value, theme, strings),
    el("p", {}, sentence(strings.hands_sum, { output, asker: names.asker("q") })),
  ];
}

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
    const { strings, bill } = frame;
    this.walk.textContent = strings.walk;
    this.handsTitle.textContent = strings.hands_title;
    this.node.classList.toggle("empty", !bill);
    if (!bill) {
      this.title.textContent = strings.bill_title_none;
      this.body.replaceChildren(el("p", { class: "quiet", text: strings.bill_none }));
      this.hands.replaceChildren();
      return;
    }
    const keys = frame.keys ?? frame.tokens;
    const names = {
      asker: (role = "") => named(frame.tokens, bill.query, role),
      key: (role = "") => named(keys, bill.key, role),
    };
    this.title.replaceChildren(...sentence(strings.bill_title, { asker: names.asker("q"), key: names.key("k") }));
    this.body.replaceChildren(...productLine(bill, names, strings, theme), flow(bill, strings));
    this.hands.replaceChildren(...handed(bill, names, strings, theme));
  }

  /** Another cell was chosen and its bill is on the way: the old one stays, dimmed, under its own name. */
  wait(waiting) {
    this.node.setAttribute("aria-busy", String(waiting));
  }
}
