// Step 3, scale and softmax: the scaled scores beside the weights, and the chosen row's way from one to the other.
import { el, phrase, word } from "../shared/dom.js";
import { fixed, percent } from "../shared/numbers.js";
import { ScrollGroup } from "../shared/matrix.js";
import { plainScale, signedScale, weightScale } from "../shared/matrix_cells.js";
import { aligned, crowded, matrix, number, paragraph, roles, roomFor, signedOf, sinkLead, told } from "./parts.js";
import { short } from "./formula.js";
import { BillTable } from "./table.js";

const two = (value) => fixed(value, 2);
const MOST_WORDS = 64; // A longer row is put into the document as the reader scrolls.

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

/** What all query × key matrices of this step have in common. */
function sharedSpec(ctx) {
  const { strings } = ctx;
  return {
    groups: [new ScrollGroup("scrollLeft"), new ScrollGroup("scrollTop")], kind: kindOf(ctx), sideways: crowded(ctx.keys),
    minCell: roomFor(ctx.keys, ctx.arrays.bias ? 2.4 : 3.2), axes: strings.axes_query_key, rowLabels: ctx.queries, colLabels: ctx.keys,
    pick: (i, j) => ({ query: i, key: j }),
  };
}

function weightsMatrix(ctx, shared, scale) {
  const { stages, strings } = ctx;
  const sums = plainScale(two);
  return matrix(ctx, {
    ...shared, key: "weights", name: [strings.stage_weights], plain: strings.stage_weights, stage: "weights",
    values: stages.weights, scale, meaning: ctx.header.sink === null ? strings.mean_weights : strings.mean_weights_sink,
    lead: sinkLead(ctx, "sink", scale, (i) => stages.sink.at(i, 0)),
    trail: { label: "Σ", at: (i) => ({ value: ctx.weightSum(i), stage: "weight_sum", i, j: 0, scale: sums }) },
  });
}

function scaledMatrix(ctx, shared, scale) {
  const { stages, strings, header } = ctx;
  const masks = ctx.arrays.allowed !== undefined;
  return matrix(ctx, {
    ...shared, key: "scaled", name: [masks ? strings.stage_masked : strings.stage_scaled], plain: strings.stage_scaled,
    values: stages.masked, stage: "scaled", scale, meaning: masks ? strings.mean_masked : strings.mean_scaled,
    address: (i, j) => [shared.kind(i, j) === "value" ? "scaled" : "masked", i, j],
    lead: sinkLead(ctx, "sink_logit", scale, () => header.sink),
  });
}

function matrices(ctx) {
  const { arrays, stages, strings, theme } = ctx;
  const shared = sharedSpec(ctx);
  if (ctx.isGiven) return [weightsMatrix(ctx, shared, weightScale(theme))];
  const signed = [stages.scaled, arrays.bias].filter(Boolean).map((values) => signedOf(values, theme));
  // They scroll together: a column must be as wide in one as in the other.
  const scales = [weightScale(theme), ...signed];
  const [weights, scaled, bias] = ctx.keys.length > 16 || arrays.bias ? aligned(...scales) : scales;
  const added = bias && matrix(ctx, {
    ...shared, key: "bias", name: [strings.bias, " B"], plain: strings.bias, stage: "bias", values: arrays.bias,
    scale: bias, meaning: strings.mean_bias, lead: ctx.header.sink === null ? undefined : { label: "", at: () => null },
  });
  return [added, scaledMatrix(ctx, shared, scaled), weightsMatrix(ctx, shared, weights)].filter(Boolean);
}

/** "÷ √8" where the scale is that, "× 0.25" where it is another one, "" where it is 1. */
function factorName({ isRoot, header }) {
  if (isRoot) return `÷ √${header.d_head}`;
  return header.scale === 1 ? "" : `× ${short(header.scale)}`;
}

/** The columns between score and scaled: the model's factor by itself only where more follows, its cap, its bias. */
function betweenColumns(ctx, plain) {
  const { stages, strings, arrays, header } = ctx;
  const isMore = header.softcap !== null || arrays.bias !== undefined;
  return [
    isMore && factorName(ctx) && { head: factorName(ctx), cell: plain(stages.times, "times") },
    header.softcap !== null && { head: phrase(strings.capped_head, { cap: short(header.softcap) }), cell: plain(stages.capped, "capped") },
    arrays.bias && { head: `+ ${strings.bias}`, cell: plain(arrays.bias, "bias") },
    { name: "scaled", head: isMore || !factorName(ctx) ? strings.stage_scaled : `${strings.stage_scaled} (${factorName(ctx)})` },
  ];
}

/** The row's stages, one column each; masked, cap and bias stand there only where the head has them. */
function columnsOf(ctx, i) {
  const { stages, strings, arrays, theme } = ctx;
  const weight = { ...weightScale(theme), format: (value) => percent(value, 2) };
  const plain = (values, stage, format = two) => (j) => ({ value: values.at(i, j), at: [stage, i, j], format });
  const painted = (values, stage, scale) => (j) => ({ value: values.at(i, j), at: [stage, i, j], scale });
  if (ctx.isGiven) return [{ name: "weight", head: strings.weight, cell: painted(stages.weights, "weights", weight) }];
  const signed = (values) => ({ ...signedScale({ data: values.row(i) }, theme), format: two });
  const divisor = { value: stages.rowSum.at(i, 0), at: ["row_sum", i, 0], format: (value) => `÷ ${small(value)}` };
  const columns = [
    { head: strings.stage_score, cell: painted(stages.scores, "scores", signed(stages.scores)) },
    ...betweenColumns(ctx, plain),
    arrays.allowed && { name: "masked", head: strings.stage_masked, cell: plain(stages.masked, "masked") },
    { name: "exp", head: strings.exp_head, cell: plain(stages.exp, "exp", small) },
    { name: "divisor", head: strings.row_sum_head, cell: () => divisor },
    { name: "weight", head: strings.weight, cell: painted(stages.weights, "weights", weight) },
  ].filter(Boolean);
  columns.find(({ name }) => name === "scaled").cell = painted(stages.scaled, "scaled", signed(stages.scaled));
  return columns;
}

/** What the sink and the sum have in each column; most have none. */
function footRows(ctx, i, columns) {
  const { stages, strings, header } = ctx;
  const share = (value) => percent(value, 2);
  const logit = { value: header.sink, at: ["sink_logit", i, 0], format: two };
  const divisor = { value: stages.rowSum?.at(i, 0), at: ["row_sum", i, 0] };
  const sink = {
    scaled: logit, masked: logit, exp: { value: stages.sinkExp?.at(i, 0), at: ["sink_exp", i, 0], format: small },
    divisor: { ...divisor, format: (value) => `÷ ${small(value)}` },
    weight: { value: stages.sink.at(i, 0), at: ["sink", i, 0], format: share },
  };
  const sum = { exp: { ...divisor, format: small }, weight: { value: ctx.weightSum(i), at: ["weight_sum", i, 0], format: share } };
  const cells = (values) => columns.map(({ name }) => values[name] ?? null);
  const rows = [{ label: "Σ", cells: cells(sum) }];
  return header.sink === null ? rows : [{ label: strings.sink_row, cells: cells(sink) }, ...rows];
}

function fillRow(ctx, bill, { query, key }) {
  const columns = columnsOf(ctx, query);
  bill.fill({
    heads: [ctx.strings.word, ...columns.map((column) => column.head)],
    count: ctx.keys.length,
    row: (j) => ({
      label: word(ctx.keys[j].text, { title: ctx.keys[j].title }), lit: j === key ? "k" : null,
      cells: columns.map((column) => column.cell(j)),
    }),
    foot: footRows(ctx, query, columns),
  });
  bill.reveal(key);
}

function story(ctx, place) {
  const { strings, stages } = ctx;
  const { query: i, key: j } = place;
  if (!ctx.hasKeys(i)) return told(ctx.header.sink === null ? strings.row_without_keys : strings.row_for_the_sink, roles(ctx, place));
  if (kindOf(ctx)(i, j) === "forbidden") return told(strings.cell_forbidden, roles(ctx, place));
  const weight = number(stages.weights.at(i, j), percent(stages.weights.at(i, j), 2), ["weights", i, j], { class: "number strong" });
  if (ctx.isGiven) return told(strings.weight_story, { ...roles(ctx, place), weight });
  const max = stages.rowMax.at(i, 0);
  return told(strings.softmax_story, {
    ...roles(ctx, place), weight,
    scaled: number(stages.scaled.at(i, j), two(stages.scaled.at(i, j)), ["scaled", i, j]),
    max: number(max, two(max), ["row_max", i, 0]),
    exp: number(stages.exp.at(i, j), small(stages.exp.at(i, j)), ["exp", i, j]),
    sum: number(stages.rowSum.at(i, 0), small(stages.rowSum.at(i, 0)), ["row_sum", i, 0]),
  });
}

/** What this model does that the plain formula does not: its own scale, a soft-cap, a bias, a sink; at the chosen cell. */
function peculiarities(ctx, { query: i, key: j }) {
  const { strings, stages, arrays, header, isRoot } = ctx;
  const at = (values, stage, row = i, column = j) => number(values.at(row, column), two(values.at(row, column)), [stage, row, column]);
  const facts = { scale: short(header.scale), d: header.d_head, root: short(1 / Math.sqrt(header.d_head)) };
  const said = [];
  if (!isRoot) said.push(told(header.scale === 1 ? strings.said_scale_one : strings.said_scale, facts));
  if (header.softcap !== null) {
    const [before, after] = [at(stages.times, "times"), at(stages.capped, "capped")];
    said.push(told(strings.said_cap, { cap: short(header.softcap), before, after }));
  }
  if (arrays.bias) said.push(told(strings.said_bias, { bias: at(arrays.bias, "bias") }));
  if (header.sink !== null) {
    const share = stages.sink.at(i, 0);
    said.push(told(strings.said_sink, {
      ...roles(ctx, { query: i, key: j }), logit: number(header.sink, two(header.sink), ["sink_logit", i, 0]),
      weight: number(share, percent(share, 2), ["sink", i, 0], { class: "number strong" }),
    }));
  }
  return said.map((pieces) => el("li", {}, pieces));
}

function words(ctx) {
  const { strings, header, isGiven, isRoot } = ctx;
  const lead = isGiven ? strings.lead_given : isRoot ? strings.lead_softmax : strings.lead_softmax_own;
  return [
    paragraph(lead, {}, { class: "lead-words" }),
    isGiven && el("p", { class: "notice" }, header.missing, " ", strings.unknown_softmax),
  ].filter(Boolean);
}

export function softmax(ctx) {
  const { strings, isGiven } = ctx;
  const views = matrices(ctx);
  const row = new BillTable(strings.row_table_label, MOST_WORDS);
  const title = el("h3");
  const said = el("p", { "aria-live": "polite" });
  const own = el("ul", { class: "own" });
  const node = el("div", { class: "softmax" }, words(ctx),
    el("div", { class: "side-by-side" }, views.map((view) => view.node)),
    el("div", { class: "row-story" }, el("div", { class: "row-table" }, title, row.node),
      el("div", { class: "row-words" }, said, own, isGiven ? null : paragraph(strings.read_softmax, {}, { class: "quiet" }))));
  const update = (place) => {
    fillRow(ctx, row, place);
    title.replaceChildren(...told(isGiven ? strings.row_title_given : strings.row_title, roles(ctx, place)));
    said.replaceChildren(...story(ctx, place));
    if (!isGiven) own.replaceChildren(...peculiarities(ctx, place));
    for (const view of views) view.light({ rows: [[place.query, "q"]], cols: [[place.key, "k"]], cell: [place.query, place.key] });
  };
  return { node, update, main: "weights" };
}
