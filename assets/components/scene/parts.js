// Bars, shaded words, chains of boxes, large figures.

import { chipColour } from "../shared/colour.js";
import { el, word } from "../shared/dom.js";
import { exact, fixed, percent } from "../shared/numbers.js";

/** 0.3456 with digits 2 → "0.35"; as a share → "34.6%". */
export function written(value, { digits = 2, isShare = false }) {
  if (Number.isNaN(value)) return "–";
  return isShare ? percent(value, Math.max(0, digits - 2)) : fixed(value, digits);
}

function bar(value, top, facts) {
  const share = top > 0 ? Math.min(Math.abs(value) / top, 1) : 0;
  return el("span", { class: "bar-room", title: exact(value) },
    el("span", { class: `bar ${facts.concept ?? "weights"}${value < 0 ? " negative" : ""}`, style: { width: `${share * 100}%` } }));
}

/** One row per label: a bar and its number for each series. */
export function bars(picture) {
  const { arrays, labels, series = [], marked = [] } = picture;
  const values = Object.keys(arrays).sort().map((name) => Array.from(arrays[name].data));
  const top = picture.top ?? Math.max(...values.flat().map((value) => Math.abs(value)), 1e-12);
  const head = series.length ? [el("tr", {}, el("th"), series.map((name) => el("th", { colspan: 2, scope: "col", text: name })))] : [];
  const rows = labels.map((label, i) => el("tr", { class: marked.includes(i) ? "marked" : null },
    el("th", { scope: "row" }, word(label)),
    values.flatMap((one) => [el("td", { class: "bar-cell" }, bar(one[i], top, picture)), el("td", { class: "value", text: written(one[i], picture) })])));
  return el("div", { class: "scroll" }, el("table", { class: "bars" }, el("thead", {}, head), el("tbody", {}, rows)));
}

/** A sentence whose words are shaded by a weight; the one that asks is framed. */
export function tokens({ arrays, tokens: words, from = null, theme, concept = "key", strings }) {
  const weights = arrays.weights.data;
  return el("p", { class: "shaded", lang: "" }, words.map((text, i) => {
    const { fill, ink } = chipColour(weights[i], theme, concept === "query" ? "query" : "key");
    const said = `${strings.weight} ${percent(weights[i], 1)}`;
    return el("span", { class: i === from ? "chip from" : "chip", style: { background: fill, color: ink }, title: said },
      word(text), el("span", { class: "share", text: percent(weights[i], 0) }));
  }));
}

export function flow({ steps }) {
  return el("ol", { class: "flow" }, steps.map(({ label, detail, concept }) =>
    el("li", { class: concept ?? null }, el("strong", { text: label }), detail ? el("span", { text: detail }) : null)));
}

export function numbers({ items }) {
  return el("dl", { class: "numbers" }, items.map(({ label, value }) =>
    el("div", {}, el("dt", { text: label }), el("dd", { text: value }))));
}
