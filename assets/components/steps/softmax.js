// Step 3, scale and softmax: the scaled scores beside the weights, and the chosen row's way from one to the other.
import { el, word } from "../shared/dom.js";
import { fixed, percent } from "../shared/numbers.js";
import { ScrollGroup } from "../shared/matrix.js";
import { plainScale, signedScale, weightScale } from "../shared/matrix_cells.js";
import { billBox, crowded, fillTable, matrix, number, paragraph, roles, roomFor, told } from "./parts.js";

const two = (value) => fixed(value, 2);

/** Small numbers keep their digits: an exp of 0.0004 is not 0. */
function small(value) {
  return value !== 0 && Math.abs(value) < 0.0005 ? value.toExponential(1).replace("-", "−") : fixed(value, 3);
}

export function kindOf(ctx) {
  const { allowed } = ctx.arrays;
  return (i, j) => {
    if (!ctx.hasKeys(i)) return "nokeys";
    return allowed === undefined || allowed.at(i, j) ? "value" : "forbidden";
  };
}

function matrices(ctx) {
  const { stages, strings, theme } = ctx;
  const groups = [new ScrollGroup("scrollLeft"), new ScrollGroup("scrollTop")];
  const masks = ctx.arrays.allowed !== undefined;
  const kind = kindOf(ctx);
  const shared = {
    groups, kind, sideways: crowded(ctx.keys), minCell: roomFor(ctx.keys, 3.2), axes: strings.axes_query_key,
    rowLabels: ctx.queries, colLabels: ctx.keys, pick: (i, j) => ({ query: i, key: j }),
  };
  const scaled = matrix(ctx, {
    ...shared, key: "scaled", name: [masks ? strings.stage_masked : strings.stage_scaled], plain: strings.stage_scaled,
    values: stages.masked, stage: "scaled", address: (i, j) => [kind(i, j) === "value" ? "scaled" : "masked", i, j],
    scale: signedScale(stages.scaled, theme), meaning: masks ? strings.mean_masked : strings.mean_scaled,
  });
  const sums = plainScale(two);
  const weights = matrix(ctx, {
    ...shared, key: "weights", name: [strings.stage_weights], plain: strings.stage_weights, stage: "weights",
    values: stages.weights, scale: weightScale(theme), meaning: strings.mean_weights,
    trail: { label: "Σ", at: (i) => ({ value: ctx.weightSums.at(i, 0), stage: "weight_sum", i, j: 0, scale: sums }) },
  });
  return { scaled, weights };
}

/** The row's stages, one column each; masked and bias stand there only where the head has them. */
function columnsOf(ctx, i) {
  const { stages, strings, arrays, theme } = ctx;
  const signed = (values) => ({ ...signedScale({ data: values.row(i) }, theme), format: two });
  const weight = { ...weightScale(theme), format: (value) => percent(value, 2) };
  const plain = (matrix, stage, format) => (j) => ({ value: matrix.at(i, j), at: [stage, i, j], format });
  const painted = (matrix, stage, scale) => (j) => ({ value: matrix.at(i, j), at: [stage, i, j], scale });
  const divisor = { value: stages.rowSum.at(i, 0), at: ["row_sum", i, 0], format: (value) => `÷ ${small(value)}` };
  const columns = [
    { head: strings.stage_score, cell: painted(stages.scores, "scores", signed(stages.scores)) },
    arrays.bias && { head: strings.bias, cell: plain(arrays.bias, "bias", two) },
    { head: ctx.isRoot ? `${strings.stage_scaled} (÷ √${ctx.header.d_head})` : strings.stage_scaled,
      cell: painted(stages.scaled, "scaled", signed(stages.scaled)) },
    arrays.allowed && { head: strings.stage_masked, cell: plain(stages.masked, "masked", two) },
    { head: strings.exp_head, cell: plain(stages.exp, "exp", small) },
    { head: strings.row_sum_head, cell: () => divisor },
    { head: strings.weight, cell: painted(stages.weights, "weights", weight) },
  ];
  return columns.filter(Boolean);
}

function fillRow(ctx, table, place) {
  const columns = columnsOf(ctx, place.query);
  const { stages, strings } = ctx;
  const i = place.query;
  const sum = {
    [strings.exp_head]: { value: stages.rowSum.at(i, 0), at: ["row_sum", i, 0], format: small },
    [strings.weight]: { value: ctx.weightSums.at(i, 0), at: ["weight_sum", i, 0], format: (value) => percent(value, 2) },
  };
  const sums = columns.map((column) => sum[column.head] ?? null);
  fillTable(table, {
    caption: strings.row_table_label, heads: [strings.word, ...columns.map((column) => column.head)],
    rows: ctx.keys.map((label, j) => ({
      label: word(label.text, { title: label.title }), lit: j === place.key ? "k" : null,
      cells: columns.map((column) => column.cell(j)),
    })),
    foot: [{ label: "Σ", cells: sums }],
  });
}

function story(ctx, place) {
  const { strings, stages } = ctx;
  const { query: i, key: j } = place;
  if (!ctx.hasKeys(i)) return told(strings.row_without_keys, roles(ctx, place));
  if (kindOf(ctx)(i, j) === "forbidden") return told(strings.cell_forbidden, roles(ctx, place));
  const max = stages.rowMax.at(i, 0);
  return told(strings.softmax_story, {
    ...roles(ctx, place),
    scaled: number(stages.scaled.at(i, j), two(stages.scaled.at(i, j)), ["scaled", i, j]),
    max: number(max, two(max), ["row_max", i, 0]),
    exp: number(stages.exp.at(i, j), small(stages.exp.at(i, j)), ["exp", i, j]),
    sum: number(stages.rowSum.at(i, 0), small(stages.rowSum.at(i, 0)), ["row_sum", i, 0]),
    weight: number(stages.weights.at(i, j), percent(stages.weights.at(i, j), 2), ["weights", i, j], { class: "number strong" }),
  });
}

export function softmax(ctx) {
  const { scaled, weights } = matrices(ctx);
  const row = billBox(ctx.strings.row_table_label);
  const title = el("h3");
  const words = el("p", { "aria-live": "polite" });
  const node = el("div", { class: "softmax" },
    paragraph(ctx.strings.lead_softmax, {}, { class: "lead-words" }),
    el("div", { class: "side-by-side" }, scaled.node, weights.node),
    el("div", { class: "row-story" }, el("div", { class: "row-table" }, title, row.node),
      el("div", { class: "row-words" }, words, paragraph(ctx.strings.read_softmax, {}, { class: "quiet" }))));
  const update = (place) => {
    fillRow(ctx, row.table, place);
    title.replaceChildren(...told(ctx.strings.row_title, roles(ctx, place)));
    words.replaceChildren(...story(ctx, place));
    const lights = { rows: [[place.query, "q"]], cols: [[place.key, "k"]], cell: [place.query, place.key] };
    scaled.light(lights);
    weights.light(lights);
  };
  return { node, update, main: "weights" };
}
