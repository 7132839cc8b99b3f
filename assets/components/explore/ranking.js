// The strongest partners of the word in question, with exact numbers; what is not listed is summed up.

import { el, phrase, sentence } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { fillTo, named, spoken } from "../shared/words.js";
import { cellOf, sides, stateAt, weightAt, weightsAround } from "./selection.js";

const LISTED = 5;

function makeItem() {
  const name = el("span", { class: "rank-word" });
  const bar = el("span", { class: "rank-bar" });
  const figure = el("span", { class: "rank-figure" });
  const button = el("button", { type: "button", class: "rank" }, name, el("span", { class: "rank-track" }, bar), figure);
  const item = el("li", {}, button);
  item.parts = { name, bar, figure, button };
  return item;
}

/**
 * The partners that may be seen, strongest first; equal ones in the order of the sentence. A head's sink, which stands
 * for no word, has the position null. Null where the weights are not known yet.
 */
function ranked(frame, token) {
  const values = weightsAround(frame, token);
  if (values === null) return null;
  const entries = Array.from(values, (weight, position) => ({ weight, position }))
    .filter(({ position }) => stateAt(frame, ...cellOf(frame.direction, { token, key: position })) === "open");
  const { no_key: noKey } = frame.arrays;
  if (noKey && frame.direction === "asks") entries.push({ weight: noKey.data[token], position: null });
  return entries.sort((a, b) => b.weight - a.weight || a.position - b.position);
}

function dressItem(item, entry, frame, shown) {
  const [own, others] = sides(frame);
  const { name, bar, figure, button } = item.parts;
  item.entry = entry;
  const isNobody = entry.position === null;
  name.replaceChildren(isNobody ? el("i", { text: frame.strings.no_key }) : named(others, entry.position));
  bar.style.width = `${Math.max(Math.min(entry.weight, 1), 0) * 100}%`;
  bar.hidden = entry.weight <= 0;
  figure.textContent = percent(entry.weight, 2);
  button.title = exact(entry.weight);
  const isCurrent = !isNobody && entry.position === shown.key;
  button.disabled = isNobody;
  button.classList.toggle("current", isCurrent);
  button.setAttribute("aria-pressed", String(isCurrent));
  const word = isNobody ? frame.strings.rank_no_key : spoken(others, entry.position);
  const parts = { token: spoken(own, shown.token), word, weight: percent(entry.weight, 2) };
  button.setAttribute("aria-label", phrase(frame.strings[`rank_name_${frame.direction}`], parts));
}

/** The strongest ones, a head's sink always among them, and the others. */
function divided(all) {
  const sink = all.findIndex(({ position }) => position === null);
  const first = sink < LISTED ? all.slice(0, LISTED) : [...all.slice(0, LISTED - 1), all[sink]];
  return [first, all.filter((entry) => !first.includes(entry))];
}

function restOf(frame, rest) {
  if (rest.length === 0) return "";
  const sum = rest.reduce((total, { weight }) => total + weight, 0);
  const weight = frame.direction === "asks" ? sum : rest[0].weight;
  const key = `rest_${frame.direction}${rest.length === 1 ? "_one" : ""}`;
  return phrase(frame.strings[key], { count: rest.length, weight: percent(weight, 2) });
}

/** How much of a row this view leaves out: other blocks of a pair, the sink. */
function leftOut(frame, token) {
  if (frame.direction !== "asks") return "";
  const others = frame.keys ?? frame.tokens;
  const isHidden = (column) => stateAt(frame, token, column) === "hidden" && column !== frame.left_out;
  const block = others.reduce((sum, _, column) => sum + (isHidden(column) ? weightAt(frame, token, column) : 0), 0);
  const parts = [others.some((_, column) => isHidden(column)) ? block : null, frame.arrays.removed?.data[token] ?? null];
  return parts.filter((weight) => weight !== null)
    .map((weight) => phrase(frame.strings.rest_hidden, { weight: percent(weight, 2) })).join(" · ");
}

export class Ranking {
  /** calls: preview(key), leave(), choose(key) */
  constructor(calls) {
    const at = (event) => event.target.closest("li")?.entry.position ?? undefined;
    this.title = el("h2");
    this.list = el("ol", { class: "ranks" });
    this.rest = el("p", { class: "rest quiet" });
    this.node = el("section", { class: "ranking" }, this.title,
      el("div", { class: "ranking-room" }, this.list, this.rest));
    this.list.addEventListener("click", (event) => at(event) !== undefined && calls.choose(at(event)));
    this.list.addEventListener("pointerover", (event) => at(event) !== undefined && event.pointerType !== "touch" && calls.preview(at(event)));
    this.list.addEventListener("focusin", (event) => at(event) !== undefined && calls.preview(at(event)));
    this.list.addEventListener("pointerleave", () => calls.leave());
  }

  show(frame, shown) {
    const [own, others] = sides(frame);
    const { strings, direction } = frame;
    this.node.dataset.direction = direction;
    this.node.style.setProperty("--listed", Math.min(LISTED, others.length));
    if (shown.token === null) {
      this.title.textContent = strings[`ranking_idle_${direction}`];
      this.list.replaceChildren();
      this.rest.textContent = strings.ranking_choose;
      return;
    }
    this.title.replaceChildren(...sentence(strings[`ranking_${direction}`], { token: named(own, shown.token, direction === "asks" ? "q" : "k") }));
    const all = ranked(frame, shown.token);
    if (all === null) {
      this.list.replaceChildren();
      this.rest.replaceChildren(...sentence(strings.statement_fetch, { token: named(own, shown.token) }));
      return;
    }
    const [first, left] = divided(all);
    fillTo(this.list, first.length, makeItem).forEach((item, k) => dressItem(item, first[k], frame, shown));
    const hidden = leftOut(frame, shown.token);
    const rest = all.length > 0 ? restOf(frame, left) : hidden ? "" : strings[`ranking_none_${direction}`];
    this.rest.textContent = [rest, hidden].filter(Boolean).join(" · ");
  }
}
