// softmax( Q Kᵀ / √d_k ) V in HTML. Which terms are lit is the style sheet's business: .formula[data-step] .term.
import { el } from "../shared/dom.js";

const term = (name, ...parts) => el("span", { class: `term term-${name}` }, ...parts);

export function formula(label) {
  const fraction = el("span", { class: "fraction" },
    el("span", { class: "over" }, term("q", "Q"), " ", term("k", "K", el("sup", { text: "T" }))),
    el("span", { class: "under" }, term("scale", "√", el("span", { class: "radicand" }, "d", el("sub", { text: "k" })))));
  return el("div", { class: "formula", role: "math", "aria-label": label },
    el("span", { "aria-hidden": "true" },
      term("softmax", "softmax"), term("softmax", "("), fraction, term("softmax", ")"), " ", term("v", "V")));
}
