// What the four steps share: labels, a matrix tied to the walk's chosen place, bills as tables, sentences.
import { el, sentence, word } from "../shared/dom.js";
import { single } from "../shared/words.js";
import { MatrixView } from "../shared/matrix.js";
import { valueAttributes } from "../shared/matrix_cells.js";

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
    strings: ctx.strings, label: `${spec.plain}: ${spec.meaning ?? spec.axes}`, ...spec,
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

function tableCell(cell) {
  if (cell === null) return el("td");
  if (cell instanceof Node) return el("td", {}, cell);
  const { value, at, scale, format, text } = cell;
  const painted = scale?.paint(value);
  return el("td", {
    class: painted ? "painted" : null, text: text ?? (format ?? scale.format)(value), ...valueAttributes(...at, value),
    style: painted ? { background: painted.fill, color: painted.ink } : {},
  });
}

/** rows: [{ label: node | text, cells: [...], lit?: tone }]; a foot row closes the bill. */
export function fillTable(table, { caption, heads, rows, foot }) {
  const line = ({ label, cells, lit }) => el("tr", { class: lit ? `lit tone-${lit}` : null }, el("th", { scope: "row" }, label), cells.map(tableCell));
  table.replaceChildren(
    el("caption", { class: "unseen", text: caption }),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map(line)),
    ...(foot ? [el("tfoot", {}, foot.map(line))] : []));
}

/** A scrolling box with a bill's table; focusable, because it can scroll. */
export function billBox(label) {
  const table = el("table", { class: "bill" });
  return { table, node: el("div", { class: "bill-box", tabindex: 0, role: "region", "aria-label": label }, table) };
}
