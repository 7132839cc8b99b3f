// The names of matrices and vectors as they are written: W with a small Q, q with the letter of its token.
import { el } from "../shared/dom.js";
import { nameOf } from "./model.js";

export function symbolOf(name) {
  const [letter, below] = name.toUpperCase().split("_");
  return el("span", { class: "symbol" }, letter, below ? el("sub", { text: below }) : null);
}

/** q of token 1 → q with a small B, in its colour. */
export function vectorSymbol(name, i) {
  return el("b", { class: `${name} symbol` }, name, el("sub", { text: nameOf(i) }));
}

/** A token's letter in the colour of its role. */
export const tokenSymbol = (i, role) => el("b", { class: role, text: nameOf(i) });
