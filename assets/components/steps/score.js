// Step 2, score: Kᵀ stands above the scores, so that its columns are theirs; Q to their left, so that its rows are theirs.
import { el, phrase } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { ScrollGroup } from "../shared/matrix.js";
import { signedScale } from "../shared/matrix_cells.js";
import { aligned, countLabels, crowded, matrix, number, paragraph, roles, roomFor, signedOf, told, unknown } from "./parts.js";
import { short } from "./formula.js";
import { turned } from "./stages.js";
import { BillTable } from "./table.js";

const two = (value) => fixed(value, 2);

function matrices(ctx) {
  const { arrays, stages, strings, theme } = ctx;
  const [across, down] = [new ScrollGroup("scrollLeft"), new ScrollGroup("scrollTop")];
  const [kScale, scoreScale] = aligned(signedOf(arrays.k, theme), signedOf(stages.scores, theme));
  const wide = { sideways: crowded(ctx.keys), minCell: roomFor(ctx.keys, ctx.header.projector ? 3 : 3.4) };
  const dims = countLabels(arrays.q.cols);
  const q = matrix(ctx, {
    key: "q", name: ["Q"], plain: "Q", tone: "q", stage: "q", values: arrays.q, scale: signedOf(arrays.q, theme), groups: [down],
    axes: strings.axes_query_dim, meaning: strings.mean_q, rowLabels: ctx.queries, colLabels: dims, tallHead: wide.sideways,
    pick: (i, c) => ({ query: i, dim: c }),
  });
  const k = matrix(ctx, {
    key: "k", name: ["K", el("sup", { text: "T" })], plain: "K transposed", tone: "k", stage: "k", values: turned(arrays.k),
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

/** q[c] · k[c] for every dimension, each kept as precisely as q and k are. */
const termsOf = ({ q, k }, i, j) => q.row(i).map((value, c) => value * k.at(j, c));

function fillBill(ctx, bill, place) {
  const { arrays, stages, strings, theme } = ctx;
  const { query: i, key: j } = place;
  const products = termsOf(arrays, i, j);
  const [scale, ofQ, ofK] = [products, arrays.q.row(i), arrays.k.row(j)].map((data) => signedScale({ data }, theme, { digits: 2 }));
  const score = stages.scores.at(i, j);
  const { asker, key } = roles(ctx, place);
  const named = (symbol, who) => el("span", { class: symbol, title: who.textContent }, symbol, "(", who, ")");
  bill.fill({
    heads: [strings.dimension, named("q", asker), named("k", key), strings.product],
    count: products.length,
    row: (c) => ({
      label: String(c), lit: c === place.dim ? "ink" : null,
      cells: [{ value: arrays.q.at(i, c), at: ["q", i, c], format: ofQ.format },
        { value: arrays.k.at(j, c), at: ["k", j, c], format: ofK.format }, { value: products[c], at: ["products", i, c], scale }],
    }),
    foot: [{ label: "Σ", cells: [null, null, { value: score, at: ["score", i, j], format: two }] }],
  });
  bill.reveal(place.dim);
  return { products, score };
}

/** What comes next: ÷ √d_k where the model's scale is that, else its own factor, which may be 1. */
export function nextScale({ strings, isRoot, header }) {
  const { d_head: d, scale } = header;
  const root = Math.sqrt(d);
  if (isRoot) return phrase(strings.next_divide, { d, root: root.toFixed(2) });
  return phrase(scale === 1 ? strings.next_one : strings.next_multiply, { scale: short(scale), d, root: short(1 / root) });
}

function largestTerm(ctx, { products, score }, place) {
  if (score === 0) return [ctx.strings.score_zero];
  // The largest of the terms that pull the same way as the sum; there always is one.
  const pulls = Array.from(products, (value) => value * Math.sign(score));
  const dim = pulls.indexOf(Math.max(...pulls));
  const cancels = Math.abs(products[dim]) > 1.5 * Math.abs(score);
  return told(cancels ? ctx.strings.largest_term_cancels : ctx.strings.largest_term, {
    dim: String(dim),
    product: number(products[dim], fixed(products[dim]), ["products", place.query, dim]),
    score: number(score, fixed(score), ["score", place.query, place.key], { class: "number strong" }),
  });
}

/** "Query head 3 reads key/value head 1 …", where heads share their keys. */
export function groupNote({ strings, header }) {
  return header.group ? el("p", { class: "quiet small", text: phrase(strings.grouped, header.group) }) : null;
}

export function score(ctx) {
  if (ctx.isGiven) return unknown(ctx.header.missing, ctx.strings.unknown_score);
  const { q, k, scores } = matrices(ctx);
  const bill = new BillTable(ctx.strings.score_bill_label);
  const title = el("h3");
  const story = el("p", { "aria-live": "polite" });
  const node = el("div", { class: "product scoring" },
    el("div", { class: "area corner" }, paragraph(ctx.strings.lead_score),
      paragraph(ctx.strings.read_score, {}, { class: "quiet small" }), groupNote(ctx)),
    [["above", k], ["left", q], ["below", scores]].map(([area, view]) => el("div", { class: `area ${area}` }, view.node)),
    el("div", { class: "area side" }, title, bill.node, story, el("p", { class: "quiet", text: nextScale(ctx) })));
  const update = (place) => {
    const { query, key } = place;
    const dim = Math.min(place.dim, ctx.arrays.q.cols - 1);
    const sums = fillBill(ctx, bill, { ...place, dim });
    title.replaceChildren(...told(ctx.strings.bill_title, roles(ctx, place)));
    story.replaceChildren(...largestTerm(ctx, sums, place));
    q.light({ rows: [[query, "q"]], cols: [], cell: null, cursor: [query, dim] });
    k.light({ rows: [], cols: [[key, "k"]], cell: null, cursor: [dim, key] });
    scores.light({ rows: [[query, "q"]], cols: [[key, "k"]], cell: [query, key] });
  };
  return { node, update, main: "scores" };
}
