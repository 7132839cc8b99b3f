// Step 4, weighted sum: weights to the left, V above, output in the corner; in the last corner the bill of the chosen row,
// whose lines lie beside the lines of V. Then: what the layer does with the output.
import { el, word } from "../shared/dom.js";
import { fixed, percent } from "../shared/numbers.js";
import { ScrollGroup } from "../shared/matrix.js";
import { reachOf } from "../shared/attention.js";
import { signedScale, weightScale } from "../shared/matrix_cells.js";
import { aligned, countLabels, crowded, matrix, number, paragraph, roles, roomFor, signedOf, sinkLead, told, unknown } from "./parts.js";
import { kindOf } from "./softmax.js";
import { RowMatrix, rowTimes, stacked } from "./stages.js";

/** One line per word: weight × v; the foot adds them up to the output row. */
function billSpec(ctx, place, scales) {
  const { arrays, stages, strings, theme } = ctx;
  const i = place.query;
  const shares = stages.weights.row(i);
  const reach = shares.reduce((most, share, j) => Math.max(most, share * reachOf({ data: arrays.v.row(j) })), 0);
  const weighted = new RowMatrix(arrays.v.rows, arrays.v.cols, (j) => arrays.v.row(j).map((value) => shares[j] * value), reach);
  const { paint, legend } = signedOf(weighted, theme);
  const share = { ...weightScale(theme), format: (value) => percent(value) };
  const total = { ...scales.output, format: scales.bill.format };
  return {
    values: weighted, scale: { ...scales.bill, paint, legend },
    address: (j, c) => ["weighted_value", j, c],
    lead: { label: strings.weight, at: (j) => ({ value: stages.weights.at(i, j), stage: "weights", i, j, scale: share }) },
    foot: {
      label: `Σ = ${strings.stage_output}`,
      at: (c) => ({ value: stages.output.at(i, c), stage: "output", i, j: c, scale: total }),
    },
  };
}

function matrices(ctx) {
  const { arrays, stages, strings, theme } = ctx;
  const groups = { dims: new ScrollGroup("scrollLeft"), keys: new ScrollGroup("scrollTop"), rows: new ScrollGroup("scrollTop") };
  let [v, output] = aligned(signedOf(arrays.v, theme), signedOf(stages.output, theme));
  // Shares of many are small.
  let bill = signedOf(arrays.v, theme, { digits: arrays.v.rows > 64 ? 3 : 2 });
  // Where they scroll together, a column must be as wide in one as in the others.
  if (arrays.v.cols > 16) [v, output, bill] = aligned(v, output, bill);
  const scales = { output, bill };
  const colLabels = countLabels(arrays.v.cols);
  const sideways = crowded(ctx.keys);
  const perKey = {
    axes: strings.axes_key_dim, rowLabels: ctx.keys, colLabels, groups: [groups.dims, groups.keys], pick: (j, c) => ({ key: j, dim: c }),
  };
  const named = (name) => ({ key: name, name: [strings[`stage_${name}`]], plain: strings[`stage_${name}`], stage: name, values: stages[name] });
  const views = {
    bill: matrix(ctx, {
      ...perKey, key: "bill", name: [strings.bill], plain: strings.bill, meaning: strings.mean_weighted, stage: "weighted_value",
      ...billSpec(ctx, ctx.place, scales),
    }),
    v: matrix(ctx, { ...perKey, key: "v", name: ["V"], plain: "V", tone: "v", stage: "v", values: arrays.v, scale: v, meaning: strings.mean_v }),
    weights: matrix(ctx, {
      ...named("weights"), scale: weightScale(theme), groups: [groups.rows], kind: kindOf(ctx), sideways,
      lead: sinkLead(ctx, "sink", weightScale(theme), (i) => stages.sink.at(i, 0)), minCell: roomFor(ctx.keys, 3.1), axes: strings.axes_query_key, meaning: strings.mean_weights,
      rowLabels: ctx.queries, colLabels: ctx.keys, pick: (i, j) => ({ query: i, key: j }),
    }),
    output: matrix(ctx, {
      ...named("output"), tone: "o", scale: output, groups: [groups.dims, groups.rows], tallHead: sideways,
      axes: strings.axes_query_dim, meaning: strings.mean_output, rowLabels: ctx.queries, colLabels, pick: (i, c) => ({ query: i, dim: c }),
    }),
  };
  return { views, scales };
}

function story(ctx, place) {
  const { strings, stages } = ctx;
  const hasSink = ctx.header.sink !== null;
  if (!ctx.hasKeys(place.query)) return told(hasSink ? strings.row_for_the_sink : strings.row_without_keys, roles(ctx, place));
  const weight = stages.weights.at(place.query, place.key);
  const shown = (value, stage, j) => number(value, percent(value, 2), [stage, place.query, j], { class: "number strong" });
  const said = told(strings.sum_story, { ...roles(ctx, place), weight: shown(weight, "weights", place.key) });
  if (!hasSink) return said;
  return [...said, " ", ...told(strings.sum_sink, { weight: shown(stages.sink.at(place.query, 0), "sink", 0) })];
}

function answerNode(ctx, place) {
  const answer = ctx.header.then.answer?.[place.query];
  if (!answer) return null;
  return el("p", { class: "answer" }, told(ctx.strings[answer.question ? "answer_asked" : "answer"], {
    ...roles(ctx, place), question: answer.question, answer: word(answer.word, { class: "o strong" }),
    probability: number(answer.probability, percent(answer.probability), ["answer", place.query, 0], { class: "number strong" }),
  }));
}

/** The rows that stand under W_O: what the head's output makes of it, and what the whole layer adds, where it is known. */
function writtenRows({ arrays, stages, strings, header }) {
  const { w_o: w, written } = arrays;
  const own = w && new RowMatrix(stages.output.rows, w.cols, (i) => rowTimes(stages.output.row(i), w, w.data.constructor), header.reach.head_written);
  return [
    own && { stage: "head_written", values: own, text: strings.head_written },
    written && { stage: "written", values: written, text: header.then.written_label },
  ].filter(Boolean);
}

/** Σ over the head's numbers of output · W_O, and what the whole layer adds: one row each under W_O. */
function thenMatrices(ctx) {
  const { arrays, strings, theme } = ctx;
  const rows = writtenRows(ctx);
  if (rows.length === 0) return null;
  const reach = Math.max(...rows.map(({ values }) => values.reach ?? reachOf(values)));
  const colLabels = countLabels(rows[0].values.cols);
  const scales = aligned(...[arrays.w_o, { reach }].filter(Boolean).map((values) => signedOf(values, theme)));
  const across = new ScrollGroup("scrollLeft");
  const rowsOf = (i) => stacked(rows.map(({ values }) => values.row(i)));
  const w = arrays.w_o && matrix(ctx, {
    key: "w_o", name: ["W", el("sub", { text: "O" })], plain: "W_O", tone: "o", stage: "w_o", values: arrays.w_o, scale: scales[0],
    groups: [across], axes: strings.axes_dim_model, meaning: strings.mean_w_o, mostRows: 12,
    rowLabels: countLabels(arrays.w_o.rows), colLabels,
  });
  const title = rows.length > 1 || !arrays.w_o ? strings.then_adds : strings.then_adds_part;
  const written = matrix(ctx, {
    key: "written", name: [title], plain: title, tone: "o", stage: "written", scale: scales.at(-1), groups: [across],
    values: rowsOf(ctx.place.query), address: (r, c) => [rows[r].stage, ctx.shown.query, c], axes: strings.axes_written,
    rowLabels: rows.map(({ text }) => ({ text })), colLabels, class: "wide-labels",
  });
  return { nodes: [w?.node, written.node], isWide: colLabels.length > 32, update: (place) => written.change({ values: rowsOf(place.query) }) };
}

function strip(ctx) {
  const { then } = ctx.header;
  const adds = thenMatrices(ctx);
  const answer = el("div");
  const words = el("section", { class: "then-words", "aria-label": ctx.strings.then_title },
    el("h3", { text: ctx.strings.then_title }), el("ol", {}, then.sentences.map((text) => el("li", { text }))), answer);
  return {
    words,
    sums: adds ? el("div", { class: "then-sums", "data-wide": adds.isWide }, adds.nodes) : null,
    update: (place) => {
      adds?.update(place);
      answer.replaceChildren(...[answerNode(ctx, place)].filter(Boolean));
    },
  };
}

export function sum(ctx) {
  if (ctx.isGiven) return unknown(ctx.header.missing, ctx.strings.unknown_sum);
  const { views, scales } = matrices(ctx);
  const words = el("p", { "aria-live": "polite" });
  const after = strip(ctx);
  const areas = { corner: "bill", above: "v", left: "weights", below: "output" };
  const node = el("div", {}, paragraph(ctx.strings.lead_sum, {}, { class: "lead-words" }),
    el("div", { class: "product summing" },
      Object.entries(areas).map(([area, key]) => el("div", { class: `area ${area}` }, views[key].node)),
      el("div", { class: "area side" }, words, paragraph(ctx.strings.read_sum, {}, { class: "quiet" }), after.words)),
    after.sums);
  const update = (place) => {
    const { query, key } = place;
    const dim = Math.min(place.dim, ctx.arrays.v.cols - 1);
    views.bill.change({ ...billSpec(ctx, place, scales), name: told(ctx.strings.sum_bill_title, roles(ctx, place)) });
    words.replaceChildren(...story(ctx, place));
    after.update(place);
    views.bill.light({ rows: [[key, "k"]], cols: [], cell: null, cursor: [key, dim] });
    views.v.light({ rows: [[key, "k"]], cols: [], cell: null, cursor: [key, dim] });
    views.weights.light({ rows: [[query, "q"]], cols: [[key, "k"]], cell: [query, key] });
    views.output.light({ rows: [[query, "q"]], cols: [], cell: null, cursor: [query, dim] });
  };
  return { node, update, main: "weights" };
}
