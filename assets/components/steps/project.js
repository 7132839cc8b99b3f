// Step 1, project: X times W_Q, W_K, W_V, laid out as the product that it is. X stands to the left, the three
// matrices above, the three results in the corner; the bill under them adds up one number of one result. Where the model
// turns Q and K afterwards, what it makes of them stands below.
import { el, phrase } from "../shared/dom.js";
import { ScrollGroup } from "../shared/matrix.js";
import { aligned, countLabels, matrix, paragraph, signedOf, told, unknown } from "./parts.js";
import { short } from "./formula.js";
import { NAMES, billParts, columnLabels, dimOf, madeOf, rowOf, totalLine, weightName } from "./project_bill.js";
import { groupNote } from "./score.js";

const PARTS = ["q", "k", "v"];

/** Which row of which part a chosen cell of row i stands for. */
const pickRow = (part, i) => (part === "q" ? { query: i } : { key: i });

/** Q, K or V, or under the key `made` what x w + b makes of them before the model turns it. */
function resultSpec(ctx, part, key, scale, groups) {
  const { strings, arrays } = ctx;
  const sum = ["X ", ...weightName(part), arrays[`b_${part}`] ? " + b" : ""];
  return {
    key, name: key === part ? [NAMES[part]] : sum, plain: NAMES[part], tone: part, stage: key, scale, groups, values: arrays[key],
    axes: part === "q" ? strings.axes_query_dim : strings.axes_key_dim,
    meaning: key === part ? strings[`mean_${part}`] : strings.mean_projected,
    rowLabels: part === "q" ? ctx.queries : ctx.keys, colLabels: countLabels(arrays[key].cols), class: "result",
    pick: (i, c) => ({ part, dim: c, ...pickRow(part, i) }),
  };
}

function weightSpec(ctx, part, scale, groups) {
  const { strings, arrays } = ctx;
  const values = arrays[`w_${part}`];
  const bias = arrays[`b_${part}`];
  return {
    key: `w_${part}`, name: weightName(part), plain: `W_${NAMES[part]}`, tone: part, stage: `w_${part}`, scale, groups, values,
    axes: strings.axes_x_dim, meaning: strings[`mean_w_${part}`], class: "weights-of",
    rowLabels: columnLabels(ctx, part).map(({ title, text }) => ({ text: title ?? text })), colLabels: countLabels(values.cols),
    mostRows: 11, bare: part !== "q" && !arrays.x_key,
    foot: bias && { label: "+ b", at: (c) => ({ value: bias.at(0, c), stage: `b_${part}`, i: 0, j: c, scale }) },
    pick: (_, c) => ({ part, dim: c }),
  };
}

function inputSpec(ctx, name, groups) {
  const { strings, arrays } = ctx;
  const crossed = name === "x_key";
  const symbol = crossed ? ["X", el("sub", { text: "K, V" })] : arrays.x_key ? ["X", el("sub", { text: "Q" })] : ["X"];
  return {
    key: name, name: symbol, plain: "X", stage: "x", values: arrays[name], groups,
    axes: strings.axes_token_x, meaning: crossed ? strings.mean_x_key : strings.mean_x, scale: signedOf(arrays[name], ctx.theme),
    rowLabels: crossed ? ctx.keys : ctx.queries, colLabels: columnLabels(ctx, crossed ? "k" : "q"),
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
  const made = madeOf(ctx, part);
  const [above, below] = aligned(...[arrays[`w_${part}`], arrays[made]].map((values) => signedOf(values, theme)));
  const sideways = new ScrollGroup("scrollLeft");
  const rows = part === "q" ? groups.rows : groups.keyRows;
  const bare = part !== "q" && !arrays.x_key;
  return {
    above: matrix(ctx, weightSpec(ctx, part, above, [sideways, groups.weights])),
    below: matrix(ctx, { ...resultSpec(ctx, part, made, below, [sideways, rows]), bare }),
  };
}

function lightAll(ctx, place) {
  const { part } = place;
  const at = (key, lights) => ctx.matrices.get(key)?.light({ rows: [], cols: [], cell: null, ...lights });
  const cursor = (key) => ctx.matrices.get(key)?.cursor ?? [0, 0];
  const crossed = ctx.matrices.has("x_key");
  at("x", {
    rows: crossed ? [[place.query, "q"]] : [[place.query, "q"], [place.key, "k"]],
    cursor: [crossed ? place.query : rowOf(part, place), cursor("x")[1]],
  });
  at("x_key", { rows: [[place.key, "k"]], cursor: [place.key, cursor("x_key")[1]] });
  for (const name of PARTS) {
    const lit = name === part;
    const [row, dim] = [rowOf(name, place), dimOf(ctx, name, place)];
    at(`w_${name}`, { cols: lit ? [[dim, name]] : [], cursor: [cursor(`w_${name}`)[0], dim] });
    for (const key of new Set([madeOf(ctx, name), name])) {
      at(key, { rows: [[row, name === "q" ? "q" : "k"]], cell: lit ? [row, dim] : null, cursor: [row, dim] });
    }
  }
}

/** Without X and the three W: the three results and the reason. */
function results(ctx) {
  const shown = PARTS.map((part) => matrix(ctx, resultSpec(ctx, part, part, signedOf(ctx.arrays[part], ctx.theme), [])));
  const node = el("div", {}, paragraph(ctx.strings.lead_project_made, {}, { class: "lead-words" }),
    el("p", { class: "notice", text: ctx.header.missing }), groupNote(ctx),
    el("div", { class: "side-by-side" }, shown.map((view) => view.node)));
  return { node, update: (place) => lightAll(ctx, place), main: "q" };
}

/** What the model makes of Q and K after the projection: it, not x w + b, is multiplied in the next step. */
function turnedSection(ctx, groups) {
  const { strings, header, arrays, theme } = ctx;
  if (!header.turns) return null;
  const say = (turn, part) => el("li", {},
    told(strings[`turn_${turn.kind}`], { part: el("span", {}, part), factor: turn.factor && short(turn.factor) }));
  const { q, k } = header.turns;
  const isOne = q.kind === k.kind && q.factor === undefined && k.factor === undefined;
  const said = isOne ? [say(q, told(strings.turn_both))] : [say(q, told("{Q}")), say(k, told("{K}"))];
  const views = ["q", "k"].map((part) => matrix(ctx, {
    ...resultSpec(ctx, part, part, signedOf(arrays[part], theme), [part === "q" ? groups.rows : groups.keyRows]),
    meaning: strings[`mean_turned_${part}`],
  }));
  return el("section", { class: "turned", "aria-label": strings.turned_title }, el("h3", { text: strings.turned_title }),
    el("ul", {}, said, el("li", {}, told(strings.turn_never))), el("div", { class: "side-by-side" }, views.map((view) => view.node)));
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

function cornerOf(ctx, buttons, totals) {
  const { arrays, strings, header } = ctx;
  const note = header.x_note ? el("p", { class: "quiet small", text: header.x_note }) : null;
  return [paragraph(arrays.x_key ? strings.lead_project_crossed : strings.lead_project), buttons, totals, note, groupNote(ctx)];
}

export function project(ctx) {
  const { arrays, strings, header } = ctx;
  if (ctx.isGiven) return unknown(header.missing, strings.unknown_project);
  if (arrays.x === undefined || arrays.w_q === undefined) return results(ctx);
  const rows = new ScrollGroup("scrollTop");
  const groups = { rows, keyRows: arrays.x_key ? new ScrollGroup("scrollTop") : rows, weights: new ScrollGroup("scrollTop") };
  const columns = Object.fromEntries(PARTS.map((part) => [part, column(ctx, part, groups)]));
  const buttons = toggles(ctx);
  const totals = el("div", { class: "totals", "aria-live": "polite" });
  const blocks = layout(ctx, columns, groups, cornerOf(ctx, buttons, totals));
  const bill = matrix(ctx, {
    key: "bill", name: [strings.bill], plain: strings.bill, axes: strings.axes_bill, stage: "products", class: "bill-matrix",
    brief: true, ...billParts(ctx, ctx.place).spec,
  });
  blocks.at(-1).append(el("div", { class: "area bill-area" }, bill.node));
  const node = el("div", {}, blocks, turnedSection(ctx, groups));
  const update = (place) => {
    const { bill: sums, spec } = billParts(ctx, place);
    bill.change(spec);
    totals.replaceChildren(...totalLine(ctx, place, sums));
    for (const button of buttons.children) button.setAttribute("aria-pressed", String(button.dataset.part === place.part));
    node.dataset.part = place.part;
    lightAll(ctx, place);
  };
  return { node, update, main: madeOf(ctx, "q") };
}
