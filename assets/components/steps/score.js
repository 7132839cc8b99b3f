// Step 2, score: Kᵀ stands above the scores, so that its columns are theirs; Q to their left, so that its rows are theirs.
import { el, phrase } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { ScrollGroup } from "../shared/matrix.js";
import { signedScale } from "../shared/matrix_cells.js";
import { terms, total, transpose } from "../shared/attention.js";
import { aligned, billBox, countLabels, crowded, fillTable, matrix, number, paragraph, roles, roomFor, told } from "./parts.js";

const two = (value) => fixed(value, 2);

function matrices(ctx) {
  const { arrays, stages, strings, theme } = ctx;
  const [across, down] = [new ScrollGroup("scrollLeft"), new ScrollGroup("scrollTop")];
  const [kScale, scoreScale] = aligned(signedScale(arrays.k, theme), signedScale(stages.scores, theme));
  const wide = { sideways: crowded(ctx.keys), minCell: roomFor(ctx.keys, ctx.header.projector ? 3 : 3.4) };
  const dims = countLabels(arrays.q.cols);
  const q = matrix(ctx, {
    key: "q", name: ["Q"], plain: "Q", tone: "q", stage: "q", values: arrays.q, scale: signedScale(arrays.q, theme), groups: [down],
    axes: strings.axes_query_dim, meaning: strings.mean_q, rowLabels: ctx.queries, colLabels: dims, tallHead: wide.sideways,
    pick: (i, c) => ({ query: i, dim: c }),
  });
  const k = matrix(ctx, {
    key: "k", name: ["K", el("sup", { text: "T" })], plain: "K transposed", tone: "k", stage: "k", values: transposed(ctx),
    scale: kScale, groups: [across], ...wide, address: (c, j) => ["k", j, c], axes: strings.axes_dim_key, meaning: strings.mean_k,
    rowLabels: dims, colLabels: ctx.keys, pick: (c, j) => ({ key: j, dim: c }),
  });
  const scores = matrix(ctx, {
    key: "scores", name: [strings.stage_scores, " ", "Q K", el("sup", { text: "T" })], plain: strings.stage_scores, stage: "scores",
    values: stages.scores, scale: scoreScale, groups: [across, down], ...wide,
    axes: strings.axes_query_key, meaning: strings.mean_scores,
    rowLabels: ctx.queries, colLabels: ctx.keys, pick: (i, j) => ({ query: i, key: j }),
  });
  return { q, k, scores };
}

function fillBill(ctx, table, place) {
  const { arrays, strings, theme } = ctx;
  const { query: i, key: j } = place;
  const products = terms(arrays.q, transposed(ctx), i, j);
  const scale = { ...signedScale({ data: products }, theme), format: two };
  const score = total(products);
  const { asker, key } = roles(ctx, place);
  const named = (symbol, who) => el("span", { class: symbol, title: who.textContent }, symbol, "(", who, ")");
  fillTable(table, {
    caption: strings.score_bill_label,
    heads: [strings.dimension, named("q", asker), named("k", key), strings.product],
    rows: products.map((value, c) => ({
      label: String(c), lit: c === place.dim ? "ink" : null,
      cells: [{ value: arrays.q.at(i, c), at: ["q", i, c], format: two },
        { value: arrays.k.at(j, c), at: ["k", j, c], format: two }, { value, at: ["products", i, c], scale }],
    })),
    foot: [{ label: "Σ", cells: [null, null, { value: score, at: ["score", i, j], format: two }] }],
  });
  return { products, score };
}

// The transposed keys are made once per walk, not once per hover.
const transposes = new WeakMap();
function transposed(ctx) {
  if (!transposes.has(ctx.arrays.k)) transposes.set(ctx.arrays.k, transpose(ctx.arrays.k));
  return transposes.get(ctx.arrays.k);
}

/** What comes next: ÷ √d_k where the model's scale is that, else its own factor. */
export function nextScale(ctx) {
  const { d_head: width, scale } = ctx.header;
  if (ctx.isRoot) return phrase(ctx.strings.next_divide, { d: width, root: Math.sqrt(width).toFixed(2) });
  return phrase(ctx.strings.next_multiply, { scale: String(Number(scale.toPrecision(4))) });
}

function largestTerm(ctx, { products, score }, place) {
  if (score === 0) return [ctx.strings.score_zero];
  // The largest of the terms that pull the same way as the sum; there always is one.
  const pulls = products.map((value) => value * Math.sign(score));
  const dim = pulls.indexOf(Math.max(...pulls));
  const cancels = Math.abs(products[dim]) > 1.5 * Math.abs(score);
  return told(cancels ? ctx.strings.largest_term_cancels : ctx.strings.largest_term, {
    dim: String(dim),
    product: number(products[dim], fixed(products[dim]), ["products", place.query, dim]),
    score: number(score, fixed(score), ["score", place.query, place.key], { class: "number strong" }),
  });
}

export function score(ctx) {
  const { q, k, scores } = matrices(ctx);
  const bill = billBox(ctx.strings.score_bill_label);
  const title = el("h3");
  const story = el("p", { "aria-live": "polite" });
  const node = el("div", { class: "product scoring" },
    el("div", { class: "area corner" }, paragraph(ctx.strings.lead_score),
      paragraph(ctx.strings.read_score, {}, { class: "quiet small" })),
    [["above", k], ["left", q], ["below", scores]].map(([area, view]) => el("div", { class: `area ${area}` }, view.node)),
    el("div", { class: "area side" }, title, bill.node, story, el("p", { class: "quiet", text: nextScale(ctx) })));
  const update = (place) => {
    const { query, key, dim } = place;
    const sums = fillBill(ctx, bill.table, place);
    title.replaceChildren(...told(ctx.strings.bill_title, roles(ctx, place)));
    story.replaceChildren(...largestTerm(ctx, sums, place));
    q.light({ rows: [[query, "q"]], cols: [], cell: null, cursor: [query, dim] });
    k.light({ rows: [], cols: [[key, "k"]], cell: null, cursor: [dim, key] });
    scores.light({ rows: [[query, "q"]], cols: [[key, "k"]], cell: [query, key] });
  };
  return { node, update, main: "scores" };
}
