// Step 1, project: X times W_Q, W_K, W_V, laid out as the product that it is. X stands to the left, the three
// matrices above, the three results in the corner; the bill under them adds up one number of one result.
import { el, phrase } from "../shared/dom.js";
import { exact, fixed } from "../shared/numbers.js";
import { ScrollGroup } from "../shared/matrix.js";
import { signedScale } from "../shared/matrix_cells.js";
import { tabulate, total } from "../shared/attention.js";
import { aligned, countLabels, matrix, number, paragraph, roles, shortLabel } from "./parts.js";

const PARTS = ["q", "k", "v"];
const NAMES = { q: "Q", k: "K", v: "V" };
const rowOf = (part, place) => (part === "q" ? place.query : place.key);
const symbolOf = (part) => [NAMES[part]];
const weightName = (part) => ["W", el("sub", { text: NAMES[part] })];

/** Which row of which part a chosen cell of row i stands for. */
const pickRow = (part, i) => (part === "q" ? { query: i } : { key: i });

function resultSpec(ctx, part, scale, groups) {
  const { strings, arrays } = ctx;
  const labels = part === "q" ? ctx.queries : ctx.keys;
  return {
    key: part, name: symbolOf(part), plain: NAMES[part], tone: part, stage: part, scale, groups,
    values: arrays[part], axes: part === "q" ? strings.axes_query_dim : strings.axes_key_dim,
    meaning: strings[`mean_${part}`], rowLabels: labels, colLabels: countLabels(arrays[part].cols), class: "result",
    bare: part !== "q" && arrays.w_q !== undefined && !arrays.x_key,
    pick: (i, c) => ({ part, dim: c, ...pickRow(part, i) }),
  };
}

function weightSpec(ctx, part, scale, groups) {
  const { strings, arrays, header } = ctx;
  const names = part === "q" ? header.x_columns : header.x_key_columns ?? header.x_columns;
  const values = arrays[`w_${part}`];
  return {
    key: `w_${part}`, name: weightName(part), plain: `W_${NAMES[part]}`, tone: part, stage: `w_${part}`, scale, groups, values,
    axes: strings.axes_x_dim, meaning: strings[`mean_w_${part}`], class: "weights-of",
    rowLabels: names.map((text) => ({ text })), colLabels: countLabels(values.cols),
    mostRows: 11, bare: part !== "q" && !arrays.x_key,
    pick: (_, c) => ({ part, dim: c }),
  };
}

function inputSpec(ctx, name, groups) {
  const { strings, arrays, header } = ctx;
  const crossed = name === "x_key";
  const columns = crossed ? header.x_key_columns ?? header.x_columns : header.x_columns;
  return {
    key: name, name: crossed ? ["X", el("sub", { text: "K, V" })] : ["X"], plain: "X", stage: "x", values: arrays[name], groups,
    axes: strings.axes_token_x, meaning: crossed ? strings.mean_x_key : strings.mean_x, scale: signedScale(arrays[name], ctx.theme),
    rowLabels: crossed ? ctx.keys : ctx.queries, colLabels: columns.map(shortLabel),
    pick: (i) => {
      if (crossed) return ctx.place.part === "q" ? { part: "k", key: i } : { key: i };
      if (arrays.x_key) return { part: "q", query: i };
      return pickRow(ctx.place.part, i);
    },
  };
}

function toggles(ctx) {
  return el("div", { class: "toggles", role: "group", "aria-label": ctx.strings.part_label }, PARTS.map((part) =>
    el("button", {
      type: "button", class: `toggle tone-${part}`, "data-part": part, "data-action": `part-${part}`, text: NAMES[part],
      onclick: () => ctx.choose({ part }, "move"),
    })));
}

/** One part's W over its result, sharing the width of their cells. */
function column(ctx, part, groups) {
  const { arrays, theme } = ctx;
  const scales = [arrays[`w_${part}`], arrays[part]].map((values) => signedScale(values, theme));
  const [above, below] = aligned(...scales);
  const sideways = new ScrollGroup("scrollLeft");
  return {
    above: matrix(ctx, weightSpec(ctx, part, above, [sideways, groups.weights])),
    below: matrix(ctx, resultSpec(ctx, part, below, [sideways, part === "q" ? groups.rows : groups.keyRows])),
  };
}

const columnName = ({ part, dim }) => ({
  text: `W_${NAMES[part]} [·, ${dim}]`, node: el("span", { class: part }, weightName(part), ` [·, ${dim}]`),
});

/** The terms of one number: row of X, column of W, their products. */
function billOf(ctx, place) {
  const { arrays } = ctx;
  const { part, dim } = place;
  const i = rowOf(part, place);
  const x = part !== "q" && arrays.x_key ? arrays.x_key : arrays.x;
  const w = arrays[`w_${part}`];
  const products = Float64Array.from({ length: x.cols }, (_, c) => x.at(i, c) * w.at(c, dim));
  const values = tabulate(3, x.cols, (r, c) => [x.at(i, c), w.at(c, dim), products[c]][r]);
  const addresses = [(c) => ["x", i, c], (c) => [`w_${part}`, c, dim], (c) => ["products", i, c]];
  return { i, values, sum: total(products), bias: arrays[`b_${part}`]?.at(0, dim) ?? null, address: (r, c) => addresses[r](c) };
}

function billScales(ctx, bill) {
  const scales = [0, 1, 2].map((r) => signedScale({ data: bill.values.row(r) }, ctx.theme, { digits: 2 }));
  return aligned(...scales).map((scale) => ({ ...scale, legend: null }));
}

function billParts(ctx, place) {
  const { strings, header, arrays } = ctx;
  const bill = billOf(ctx, place);
  const scales = billScales(ctx, bill);
  const names = place.part !== "q" && arrays.x_key ? header.x_key_columns ?? header.x_columns : header.x_columns;
  const asked = (place.part === "q" ? ctx.queries : ctx.keys)[bill.i].text;
  return {
    bill,
    spec: {
      values: bill.values, address: bill.address, scale: scales[2], scaleAt: (r) => scales[r],
      rowLabels: [{ text: phrase(strings.bill_x, { token: asked }) }, columnName(place), { text: strings.product }],
      colLabels: names.map(shortLabel),
      label: phrase(strings.project_bill_label, { part: place.part, token: asked, dim: place.dim }),
    },
  };
}

/** "q(it), number 3 = Σ 3.41 (+ b 0.10) = 3.51", and a warning where the sum is not the model's own number. */
function totalLine(ctx, place, bill) {
  const { strings, arrays } = ctx;
  const { part, dim } = place;
  const value = arrays[part].at(bill.i, dim);
  const who = roles(ctx, place)[part === "q" ? "asker" : "key"];
  const parts = [el("b", { class: `${part} symbol`, text: part }), "(", who, ")[", String(dim), "] = Σ ",
    number(bill.sum, fixed(bill.sum, 2), ["sum", bill.i, dim])];
  if (bill.bias !== null) parts.push(" + b ", number(bill.bias, fixed(bill.bias, 2), [`b_${part}`, 0, dim]));
  parts.push(" = ", number(value, fixed(value, 2), [part, bill.i, dim], { class: "number strong" }));
  const line = el("p", { class: "total" }, parts);
  const whole = bill.sum + (bill.bias ?? 0);
  if (Math.abs(whole - value) <= 1e-4 * Math.max(1, Math.abs(value))) return [line];
  return [line, el("p", { class: "warning", text: phrase(strings.bill_differs, { sum: exact(whole), value: exact(value) }) })];
}

function lightAll(ctx, place) {
  const { part, dim } = place;
  const at = (key, lights) => ctx.matrices.get(key)?.light({ rows: [], cols: [], cell: null, ...lights });
  const cursor = (key) => ctx.matrices.get(key).cursor;
  const crossed = ctx.matrices.has("x_key");
  const cursorRow = rowOf(part, place);
  at("x", {
    rows: crossed ? [[place.query, "q"]] : [[place.query, "q"], [place.key, "k"]],
    cursor: [crossed ? place.query : cursorRow, cursor("x")[1]],
  });
  at("x_key", { rows: [[place.key, "k"]], cursor: crossed ? [place.key, cursor("x_key")[1]] : null });
  for (const name of PARTS) {
    const lit = name === part;
    const row = rowOf(name, place);
    at(`w_${name}`, { cols: lit ? [[dim, name]] : [], cursor: [cursor(`w_${name}`)[0], dim] });
    at(name, { rows: [[row, name === "q" ? "q" : "k"]], cell: lit ? [row, dim] : null, cursor: [row, dim] });
  }
}

/** Without X and the three W: the three results and the reason. */
function results(ctx) {
  const shown = PARTS.map((part) => matrix(ctx, resultSpec(ctx, part, signedScale(ctx.arrays[part], ctx.theme), [])));
  const node = el("div", {}, paragraph(ctx.strings.lead_project, {}, { class: "lead-words" }),
    el("p", { class: "notice", text: ctx.header.missing }), el("div", { class: "side-by-side" }, shown.map((view) => view.node)));
  const update = (place) => {
    for (const part of PARTS) {
      const row = rowOf(part, place);
      const at = [row, place.dim];
      const rows = [[row, part === "q" ? "q" : "k"]];
      ctx.matrices.get(part).light({ rows, cols: [], cell: part === place.part ? at : null, cursor: at });
    }
  };
  return { node, update, main: "q" };
}

function layout(ctx, columns, groups, corner) {
  const crossed = Boolean(ctx.arrays.x_key);
  const x = matrix(ctx, inputSpec(ctx, "x", [groups.rows]));
  const cell = (view, area, part) => el("div", { class: `area ${area}`, "data-of": part }, view.node);
  const block = (input, area, parts, first) => el("div", { class: "product projection", style: { "--parts": parts.length } },
    el("div", { class: "area corner" }, first), parts.map((p) => cell(columns[p].above, "above", p)), cell(input, "left", area),
    parts.map((p) => cell(columns[p].below, "below", p)));
  if (!crossed) return [block(x, "x", PARTS, corner)];
  const xKey = matrix(ctx, inputSpec(ctx, "x_key", [groups.keyRows]));
  return [block(x, "x", ["q"], corner), block(xKey, "x_key", ["k", "v"], [])];
}

export function project(ctx) {
  const { arrays, strings, header } = ctx;
  if (arrays.x === undefined || arrays.w_q === undefined) return results(ctx);
  const rows = new ScrollGroup("scrollTop");
  const groups = { rows, keyRows: arrays.x_key ? new ScrollGroup("scrollTop") : rows, weights: new ScrollGroup("scrollTop") };
  const columns = Object.fromEntries(PARTS.map((part) => [part, column(ctx, part, groups)]));
  const buttons = toggles(ctx);
  const totals = el("div", { class: "totals", "aria-live": "polite" });
  const lead = paragraph(arrays.x_key ? strings.lead_project_crossed : strings.lead_project);
  const note = header.x_note ? el("p", { class: "quiet small", text: header.x_note }) : null;
  const corner = [lead, buttons, totals, note];
  const blocks = layout(ctx, columns, groups, corner);
  const start = billParts(ctx, ctx.place);
  const bill = matrix(ctx, {
    key: "bill", name: [strings.bill], plain: strings.bill, axes: strings.axes_bill, stage: "products", class: "bill-matrix",
    brief: true, ...start.spec,
  });
  blocks.at(-1).append(el("div", { class: "area bill-area" }, bill.node));
  const node = el("div", {}, blocks);
  const update = (place) => {
    const { bill: sums, spec } = billParts(ctx, place);
    bill.change(spec);
    totals.replaceChildren(...totalLine(ctx, place, sums));
    for (const button of buttons.children) button.setAttribute("aria-pressed", String(button.dataset.part === place.part));
    node.dataset.part = place.part;
    lightAll(ctx, place);
  };
  return { node, update, main: "q" };
}
