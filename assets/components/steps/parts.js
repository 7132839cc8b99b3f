// What the four steps share: labels, a matrix tied to the walk's chosen place, bills as tables, sentences.
import { el, sentence, word } from "../shared/dom.js";
import { single } from "../shared/words.js";
import { MatrixView } from "../shared/matrix.js";
import { signedScale, valueAttributes } from "../shared/matrix_cells.js";
import { reachOf } from "../shared/attention.js";

/** Column words stand on their side where there are many and they are long. */
export const crowded = (labels) => labels.length > 16 && labels.some((label) => label.text.length > 4);

/** The least width of a cell (em), so that the words over it can be read: characters need no more than numbers do. */
export function roomFor(labels, widest) {
  if (labels.length > 16) return 0;
  if (!labels.every((label) => label.special || single(label.text))) return widest;
  return labels.some((label) => label.special) ? 2.9 : 0;
}

/** One label per token; identity is the position, so the hover text carries it. */
export function tokenLabels(tokens) {
  return tokens.map((token, i) => {
    const text = token.shown ?? token.text;
    return { text, title: `${text} · ${i}`, special: token.special, unknown: token.unknown };
  });
}

/** "note 15" → "n15", its full name on hover: column heads are as narrow as their numbers. */
export const shortLabel = (name) => ({ text: name.replace(/^(\S)\S*\s+(\d+)$/, "$1$2"), title: name });

export const countLabels = (count) => Array.from({ length: count }, (_, c) => ({ text: String(c) }));

/** Matrices that stand over each other share their cells' width. */
export function aligned(...scales) {
  const chars = Math.max(...scales.map((scale) => scale.chars));
  return scales.map((scale) => ({ ...scale, chars }));
}

/** A matrix whose cells stand for a place in the walk: pick(i, j) → what choosing the cell changes. */
export function matrix(ctx, { pick, ...spec }) {
  const view = new MatrixView({
    // Of a long text fewer rows at once: the four parts of a product then fit on one screen.
    mostRows: spec.values.rows > 64 ? 18 : 26, strings: ctx.strings, label: `${spec.plain}: ${spec.meaning ?? spec.axes}`, ...spec,
    choose: pick && ((i, j, how) => ctx.choose(pick(i, j), how)),
    hover: pick && ((at) => ctx.hover(at && pick(...at))),
  });
  ctx.matrices.set(spec.key, view);
  return view;
}

/** The coloured names that sentences use: {q}, {k}, {v}, {o}. */
export function symbols() {
  const mark = (tone, text) => el("b", { class: `${tone} symbol`, text });
  return { q: mark("q", "q"), k: mark("k", "k"), v: mark("v", "v"), Q: mark("q", "Q"), K: mark("k", "K"), V: mark("v", "V") };
}

/** A translated sentence as a paragraph; parts may be nodes or texts. */
export function paragraph(template, parts = {}, attributes = {}) {
  return el("p", attributes, told(template, parts));
}

/** The same without the paragraph. A part that a sentence uses twice stands there twice. */
export function told(template, parts = {}) {
  const pieces = sentence(template, { ...symbols(), ...parts });
  return pieces.map((piece) => (piece instanceof Node ? piece.cloneNode(true) : piece));
}

/** The words at the chosen place, coloured by their role. */
export function roles(ctx, place) {
  return {
    asker: word(ctx.queries[place.query].text, { class: "q strong" }),
    key: word(ctx.keys[place.key].text, { class: "k strong" }),
  };
}

/** A number in a sentence or table, with its exact value and place. */
export function number(value, text, [stage, i, j], attributes = {}) {
  return el("span", { class: "number", text, ...valueAttributes(stage, i, j, value), ...attributes });
}

/** The colours of a matrix; the range of one that is made row by row comes with it. */
export function signedOf(values, theme, options = {}) {
  if (values.reach !== undefined) return signedScale(values, theme, { reach: values.reach, ...options });
  if (!reaches.has(values)) reaches.set(values, reachOf(values));
  return signedScale(values, theme, { reach: reaches.get(values), ...options });
}

// A long text's inputs have millions of numbers: each array is gone through once.
const reaches = new WeakMap();

/** A column before each row for what the sink has there; nothing where the head has no sink. */
export function sinkLead(ctx, stage, scale, value) {
  return ctx.header.sink === null ? undefined : { label: ctx.strings.sink, at: (i) => ({ value: value(i), stage, i, j: 0, scale }) };
}

/** A step of which nothing is known: why, and what follows from that. */
export function unknown(...sentences) {
  const node = el("div", {}, el("p", { class: "notice", text: sentences.join(" ") }));
  return { node, update: () => {}, main: null };
}
