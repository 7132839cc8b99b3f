// What the reader is given: Q, K and V, and what is to be done with them.
import { el, phrase } from "../shared/dom.js";
import { nameOf } from "../bench/model.js";
import { symbolOf, vectorSymbol } from "../bench/symbols.js";

/** Whole numbers as they are; a real minus sign. */
export const plain = (value) => String(value).replace("-", "−");

/** The names of a stage's rows: whoever asks. */
export const askers = ({ header, arrays }) => Array.from({ length: arrays.q.rows }, (_, i) => nameOf(header.asker ?? i));

function numbers(name, matrix, rows, title) {
  const head = el("tr", {}, el("td"), Array.from({ length: matrix.cols }, (_, c) => el("th", { scope: "col", text: String(c) })));
  const body = rows.map((row, i) => el("tr", {}, el("th", { scope: "row", class: name, text: row }),
    Array.from(matrix.row(i), (value) => el("td", { text: plain(value) }))));
  return el("table", { class: "numbers", "data-given": name },
    el("caption", {}, el("b", { class: name }, title), " ", el("span", { class: "quiet", text: `${matrix.rows} × ${matrix.cols}` })),
    el("thead", {}, head), el("tbody", {}, body));
}

export function given(ctx) {
  const { header, strings, arrays } = ctx;
  const { q, k, v } = arrays;
  const keys = Array.from({ length: k.rows }, (_, j) => nameOf(j));
  const isOne = header.asker !== null;
  const task = phrase(strings[isOne ? "task_row" : "task_all"], { asker: nameOf(header.asker ?? 0) });
  const mask = header.masked ? phrase(strings[isOne ? "mask_row" : "mask_all"], { asker: nameOf(header.asker ?? 0) }) : "";
  return el("section", { class: "given", "aria-label": strings.given },
    el("p", { class: "task" }, [task, mask].filter(Boolean).map((text) => el("span", { text }))),
    el("div", { class: "side-by-side" },
      numbers("q", q, askers(ctx), isOne ? vectorSymbol("q", header.asker) : symbolOf("q")),
      numbers("k", k, keys, symbolOf("k")), numbers("v", v, keys, symbolOf("v"))),
    el("p", { class: "quiet small", text: strings.how }));
}
