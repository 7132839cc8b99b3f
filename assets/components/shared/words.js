// Words on screen. A word is its position; where the same text stands more than once, the position is shown with it.

import { el, word } from "./dom.js";

const DIGITS = "₀₁₂₃₄₅₆₇₈₉";
const known = new WeakMap();

/** The positions whose text stands elsewhere in the sentence too. */
export function repeated(tokens) {
  if (!known.has(tokens)) {
    const counts = new Map();
    for (const { shown } of tokens) counts.set(shown, (counts.get(shown) ?? 0) + 1);
    known.set(tokens, new Set(tokens.flatMap(({ shown }, i) => (counts.get(shown) > 1 ? [i] : []))));
  }
  return known.get(tokens);
}

/** A word as a node, with its position as a subscript where the text alone would be ambiguous. */
export function named(tokens, position, role = "") {
  const { shown: text, special } = tokens[position];
  const place = repeated(tokens).has(position) ? el("sub", { text: position }) : null;
  return el("span", { class: `name ${special ? "special" : ""} ${role}`, title: text }, word(text), place);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const isolated = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

/** The same as text, for names that are read aloud and for titles; right-to-left words do not turn their neighbours. */
export function spoken(tokens, position) {
  const place = repeated(tokens).has(position) ? [...String(position)].map((c) => DIGITS[c]).join("") : "";
  return `${isolated(tokens[position].shown)}${place}`;
}

/** What the hover says of a word: itself, the number that the model was fed, and what is special about it. */
export function told(tokens, position, strings, isSink = false) {
  const { special, unknown, added, id, piece } = tokens[position];
  const isFed = id !== undefined;
  const parts = { word: isolated(tokens[position].shown), id, piece, position };
  const fill = (key) => strings[key].replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);
  const lines = [];
  if (added) lines.push(fill("added_name"));
  else if (unknown) lines.push(fill(isFed && piece ? "unknown_fed" : "unknown_word"));
  else if (special) lines.push(fill("special_name"));
  if (isFed && !(unknown && piece)) lines.push(fill("token_fed"));
  if (isSink) lines.push(fill("sink_name"));
  return lines.join("\n") || tokens[position].shown;
}

/** Scripts and pictures that stand upright when a label runs downwards. */
export function upright(text) {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u.test(text);
}

const segments = typeof Intl.Segmenter === "function" ? new Intl.Segmenter() : null;

/** One sign only (a letter, a full stop, one emoji however it is put together). */
export function single(text) {
  if (segments === null) return [...text].length <= 1;
  const signs = segments.segment(text)[Symbol.iterator]();
  signs.next();
  return signs.next().done;
}

/** Make `parent` hold exactly `count` children; those that stay keep their focus and their motion. */
export function fillTo(parent, count, make) {
  while (parent.children.length > count) parent.lastElementChild.remove();
  while (parent.children.length < count) parent.append(make(parent.children.length));
  return [...parent.children];
}
