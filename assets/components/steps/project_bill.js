// The bill of one number of Q, K or V: the terms of X and W, their sum, the bias, and what the model makes of it.
import { el, phrase } from "../shared/dom.js";
import { exact, fixed } from "../shared/numbers.js";
import { signedScale } from "../shared/matrix_cells.js";
import { tabulate } from "../shared/attention.js";
import { aligned, countLabels, number, roles, shortLabel, told } from "./parts.js";

export const NAMES = { q: "Q", k: "K", v: "V" };
export const rowOf = (part, place) => (part === "q" ? place.query : place.key);
export const weightName = (part) => ["W", el("sub", { text: NAMES[part] })];

/** Values may be narrower than queries and keys: the last dimension stands for those beyond. */
export const dimOf = (ctx, part, place) => Math.min(place.dim, ctx.arrays[part].cols - 1);

/** What x w + b makes: the part itself, or what the model turns into it afterwards. */
export const madeOf = (ctx, part) => (ctx.arrays[`${part}_projected`] ? `${part}_projected` : part);

export const inputOf = ({ arrays }, part) => (part !== "q" && arrays.x_key ? arrays.x_key : arrays.x);

/** The names of X's columns: the parts of the stream, or plain numbers. */
export function columnLabels({ header, arrays }, part) {
  return header.x_columns === null ? countLabels(inputOf({ arrays }, part).cols) : header.x_columns.map(shortLabel);
}

const columnName = (part, dim) => ({
  text: `W_${NAMES[part]} [·, ${dim}]`, node: el("span", { class: part }, weightName(part), ` [·, ${dim}]`),
});

function billOf(ctx, place) {
  const { arrays } = ctx;
  const { part } = place;
  const [i, dim] = [rowOf(part, place), dimOf(ctx, part, place)];
  const [x, w] = [inputOf(ctx, part).row(i), arrays[`w_${part}`]];
  const products = x.map((value, c) => value * w.at(c, dim));
  const sum = x.constructor.of(x.reduce((before, value, c) => before + value * w.at(c, dim), 0))[0];
  const values = tabulate(3, x.length, (r, c) => [x[c], w.at(c, dim), products[c]][r]);
  const addresses = [(c) => ["x", i, c], (c) => [`w_${part}`, c, dim], (c) => ["products", i, c]];
  const bias = arrays[`b_${part}`]?.at(0, dim) ?? null;
  return { i, dim, values, products, sum, bias, address: (r, c) => addresses[r](c) };
}

function billScales(ctx, bill) {
  const scales = [0, 1, 2].map((r) => signedScale({ data: bill.values.row(r) }, ctx.theme, { digits: 2 }));
  return aligned(...scales).map((scale) => ({ ...scale, legend: null }));
}

/** The bill, and how its matrix shows it. */
export function billParts(ctx, place) {
  const { strings } = ctx;
  const bill = billOf(ctx, place);
  const scales = billScales(ctx, bill);
  const asked = (place.part === "q" ? ctx.queries : ctx.keys)[bill.i].text;
  return {
    bill,
    spec: {
      values: bill.values, address: bill.address, scale: scales[2], scaleAt: (r) => scales[r],
      rowLabels: [{ text: phrase(strings.bill_x, { token: asked }) }, columnName(place.part, bill.dim), { text: strings.product }],
      colLabels: columnLabels(ctx, place.part),
      label: phrase(strings.project_bill_label, { part: place.part, token: asked, dim: bill.dim }),
    },
  };
}

/** Where the terms do not add up to the model's own number: by half precision's rounding, or for no known reason. */
function difference({ strings, header }, { products, sum, bias }, value) {
  const whole = sum + (bias ?? 0);
  const size = products.reduce((most, term) => most + Math.abs(term), Math.abs(bias ?? 0));
  const off = Math.abs(whole - value);
  if (off <= Math.max(1e-4 * Math.max(1, Math.abs(value)), 1e-6 * size)) return [];
  const isHalf = ["bfloat16", "float16"].includes(header.dtype);
  const parts = { sum: exact(Math.fround(whole)), value: exact(value), dtype: header.dtype };
  if (isHalf && off <= 2 ** -7 * size) return [el("p", { class: "quiet small", text: phrase(strings.bill_rounded, parts) })];
  return [el("p", { class: "warning", text: phrase(strings.bill_differs, parts) })];
}

/** "q(it)[3] = Σ 3.41 + b 0.10 = 3.51", and what the model turns it into. */
export function totalLine(ctx, place, bill) {
  const { strings, arrays } = ctx;
  const { part } = place;
  const { i, dim, sum, bias } = bill;
  const stage = madeOf(ctx, part);
  const two = signedScale({ data: [bias ?? sum, sum, arrays[stage].at(i, dim)] }, ctx.theme, { digits: 2 }).format;
  const shown = (value, name, row, attributes) => number(value, two(value), [name, row, dim], attributes);
  const strong = { class: "number strong" };
  const who = roles(ctx, place)[part === "q" ? "asker" : "key"];
  const parts = [el("b", { class: `${part} symbol`, text: part }), "(", who, ")[", String(dim), "] = Σ ", shown(sum, "sum", i)];
  if (bias !== null) parts.push(" + b ", shown(bias, `b_${part}`, 0));
  parts.push(" = ", shown(arrays[stage].at(i, dim), stage, i, strong));
  if (stage !== part) parts.push(...told(strings.turned_into, { value: shown(arrays[part].at(i, dim), part, i, strong) }));
  return [el("p", { class: "total" }, parts), ...difference(ctx, bill, arrays[stage].at(i, dim))];
}
