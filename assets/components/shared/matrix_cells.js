// The parts of a matrix view: cells, headers, caption, legend. Every number carries its exact value.
import { el, word } from "./dom.js";
import { exact, fixed } from "./numbers.js";
import { signedColour, signedGradient, weightColour, weightGradient } from "./colour.js";
import { reachOf } from "./attention.js";

/** How signed values are written and painted: one scale per matrix, as wide as its largest absolute value. */
export function signedScale(values, theme, { digits = 1, reach = reachOf(values) } = {}) {
  // One decimal; more where the whole matrix is so small that one would read as zeros.
  if (reach > 0 && reach < 0.5) digits = Math.min(4, Math.max(digits, 1 - Math.floor(Math.log10(reach))));
  const whole = Math.max(1, Math.floor(Math.log10(Math.max(reach, 1))) + 1);
  return {
    format: (value) => fixed(value, digits),
    paint: (value) => signedColour(value, reach, theme),
    // A full stop is half as wide as a digit; a minus as wide as one.
    chars: whole + digits + 1.5,
    legend: { gradient: signedGradient(theme), from: fixed(-reach, digits), to: fixed(reach, digits) },
  };
}

/** Weights: whole per cents on the fixed 0–1 scale; what is not zero never reads as zero. */
export function weightScale(theme) {
  return {
    format: (value) => (value > 0 && value < 0.005 ? "<1" : String(Math.round(value * 100))),
    // What is nearly nothing is written quietly, so that the row's answer stands out.
    paint: (value) => (value < 0.005 ? { ...weightColour(value, theme), ink: "var(--quiet)" } : weightColour(value, theme)),
    chars: 3,
    legend: { gradient: weightGradient(theme), from: "0", to: "1" },
  };
}

/** A number that is only written, not painted. */
export const plainScale = (format) => ({ format, paint: () => ({ fill: "", ink: "" }) });

/** The attributes that tell a number's place and full value, for tests and for hover. */
export function valueAttributes(stage, i, j, value) {
  return { ...placeAttributes(stage, i, j, value), title: exact(value) };
}

/** The same without the hover text, which a matrix adds to the cell that is pointed at. */
const placeAttributes = (stage, i, j, value) => ({ "data-stage": stage, "data-i": i, "data-j": j, "data-value": String(value) });

export function valueCell(spec, i, j) {
  const [stage, a, b] = spec.address?.(i, j) ?? [spec.stage, i, j];
  const value = spec.values.at(i, j);
  const kind = spec.kind?.(i, j) ?? "value";
  const node = el("div", {
    role: "gridcell", class: `cell ${kind}`, tabindex: -1, "data-row": i, "data-col": j, "aria-colindex": j + 2,
    ...placeAttributes(stage, a, b, value),
  });
  if (kind !== "value") {
    node.textContent = kind === "forbidden" ? "·" : "";
    node.setAttribute("aria-label", spec.strings[kind]);
    node.title = spec.strings[kind];
    return node;
  }
  const scale = spec.scaleAt?.(i, j) ?? spec.scale;
  const { fill, ink } = scale.paint(value);
  node.textContent = scale.format(value);
  node.style.background = fill;
  node.style.color = ink;
  return node;
}

/** A cell beside or under the matrix: a weight before its row, a sum after it; null leaves the place empty. */
export function extraCell(kind, part, ...where) {
  const cell = part?.at(...where) ?? null;
  if (cell === null) return el("div", { role: "gridcell", class: kind });
  const { value, stage, i, j, scale } = cell;
  const { fill, ink } = scale.paint(value);
  return el("div", {
    role: "gridcell", class: `cell ${kind}`, text: scale.format(value), style: { background: fill, color: ink },
    ...valueAttributes(stage, i, j, value),
  });
}

export function labelNode(label) {
  const style = [label.special ? "special" : "", label.unknown ? "unknown" : ""].join(" ").trim();
  if (label.node) return label.node.cloneNode(true);
  return word(label.text, { class: style || null });
}

export function rowHeader(label, i) {
  return el("div", { role: "rowheader", class: "label", "data-row-label": i, "aria-colindex": 1, title: label.title ?? label.text },
    labelNode(label));
}

export function columnHeader(label, j) {
  const title = label.title ?? label.text;
  return el("div", { role: "columnheader", class: "top", "data-col-label": j, "aria-colindex": j + 2, title }, labelNode(label));
}

/** The first row: an empty corner, the columns' names, and the names of extra columns. */
export function headRow(spec, columns) {
  return el("div", { role: "row", class: "matrix-row head", "aria-rowindex": 1 },
    el("div", { role: "columnheader", class: "label" }, el("span", { class: "unseen", text: spec.axes })),
    spec.lead ? el("div", { role: "columnheader", class: "lead", text: spec.lead.label }) : null,
    columns.map((j) => columnHeader(spec.colLabels[j], j)),
    spec.trail && columns.at(-1) === spec.values.cols - 1
      ? el("div", { role: "columnheader", class: "top trail", text: spec.trail.label }) : null);
}

export function legend({ gradient, from, to }) {
  return el("span", { class: "legend" }, el("span", { text: from }),
    el("span", { class: "legend-bar", style: { background: `linear-gradient(to right, ${gradient})` } }), el("span", { text: to }));
}

/** Two lines over the matrix: its name, shape and axes; what it means and the range of its colours. */
export function caption(spec, range) {
  const second = [spec.meaning ? el("span", { class: "matrix-meaning", text: spec.meaning, title: spec.meaning }) : null, range,
    spec.scale.legend ? legend(spec.scale.legend) : null];
  return el("div", { class: "matrix-caption" },
    el("div", {}, el("span", { class: `matrix-name ${spec.tone ?? ""}` }, spec.name),
      el("span", { class: "matrix-shape", text: `${spec.values.rows} × ${spec.values.cols}` }),
      el("span", { class: "matrix-axes", text: spec.axes, title: spec.axes }),
      spec.brief ? range : null),
    spec.brief ? null : el("div", {}, second));
}
