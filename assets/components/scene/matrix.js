// A small matrix as a table: rows ask, columns answer, every cell its number.

import { signedColour, weightColour } from "../shared/colour.js";
import { el, word } from "../shared/dom.js";
import { exact } from "../shared/numbers.js";
import { written } from "./parts.js";

const WIDE = 14; // Columns beyond which numbers give way to colour; the exact value is in the hover.

export function matrix(picture) {
  const { arrays, rows, columns, scale = "weights", theme, strings } = picture;
  const { values, allowed, hidden } = arrays;
  const top = picture.top ?? Math.max(...Array.from(values.data, Math.abs).filter(Number.isFinite), 1e-12);
  const paint = (value) => (scale === "weights" ? weightColour(value, theme) : signedColour(value, top, theme));
  const isWide = columns.length > WIDE;
  const cell = (i, j) => {
    const value = values.at(i, j);
    if (allowed && !allowed.at(i, j)) return el("td", { class: "masked", title: strings.masked, "aria-label": strings.masked });
    if (hidden?.at(i, j)) return el("td", { class: "left-out", title: strings.left_out, "aria-label": strings.left_out });
    const { fill, ink } = paint(value);
    return el("td", { style: { background: fill, color: ink }, title: exact(value), text: isWide ? "" : written(value, picture) });
  };
  const head = el("tr", {}, el("th", { class: "corner", text: picture.corner ?? "" }), columns.map((name) => el("th", { scope: "col" }, word(name))));
  const body = rows.map((name, i) => el("tr", {}, el("th", { scope: "row" }, word(name)), columns.map((_, j) => cell(i, j))));
  return el("div", { class: "scroll" }, el("table", { class: isWide ? "matrix wide" : "matrix" }, el("thead", {}, head), el("tbody", {}, body)));
}
