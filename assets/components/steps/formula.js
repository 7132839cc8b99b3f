// The formula of this head in HTML: softmax( Q Kᵀ / √d_k ) V, with the model's own scale, soft-cap, bias and sink.
// Which terms are lit is the style sheet's business: .formula[data-step] .term.
import { el, phrase } from "../shared/dom.js";

const term = (name, ...parts) => el("span", { class: `term term-${name}` }, ...parts);
export const short = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

const product = () => [term("q", "Q"), " ", term("k", "K", el("sup", { text: "T" }))];
const fraction = (over, under) => el("span", { class: "fraction" },
  el("span", { class: "over" }, over), el("span", { class: "under" }, under));

/** Q Kᵀ over √d_k where the scale is that; else times the model's own number, which may be 1. */
function scaled({ isRoot, scale }) {
  if (isRoot) return [fraction(product(), term("scale", "√", el("span", { class: "radicand" }, "d", el("sub", { text: "k" }))))];
  return scale === 1 ? product() : [term("scale", short(scale), " · "), ...product()];
}

function capped(facts) {
  const inside = scaled(facts);
  if (facts.softcap === null) return inside;
  const cap = short(facts.softcap);
  return [term("cap", `${cap} · tanh`), term("cap", "("), fraction(inside, term("cap", cap)), term("cap", ")")];
}

function spoken(strings, { isRoot, scale, softcap, hasBias, hasSink }) {
  const steps = [
    strings.formula_product,
    isRoot ? strings.formula_root : scale === 1 ? null : phrase(strings.formula_times, { scale: short(scale) }),
    softcap === null ? null : phrase(strings.formula_cap, { cap: short(softcap) }),
    hasBias ? strings.formula_bias : null,
    hasSink ? strings.formula_sink : null,
  ];
  return phrase(strings.formula_label, { inner: steps.filter(Boolean).join(strings.formula_join) });
}

/** facts: { isRoot, scale, softcap, hasBias, hasSink }; null where only the weights are known. */
export function formula(strings, facts) {
  if (facts === null) {
    return el("div", { class: "formula", role: "math", "aria-label": strings.formula_unknown },
      el("span", { "aria-hidden": "true" }, term("softmax", strings.stage_weights), " ", term("v", "V")));
  }
  const bias = facts.hasBias ? [" + ", term("bias", "B")] : [];
  const sink = facts.hasSink ? [", ", term("sink", "s")] : [];
  return el("div", { class: "formula", role: "math", "aria-label": spoken(strings, facts) },
    el("span", { "aria-hidden": "true" },
      term("softmax", "softmax"), term("softmax", "("), capped(facts), bias, sink, term("softmax", ")"), " ", term("v", "V")));
}
