// The strongest partners of the word in question, with exact numbers; what is not listed is summed up.

import { el, phrase, sentence } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { fillTo, named, spoken } from "../shared/words.js";
import { hasKeys, isAllowed, cellOf, sides, weightsAround } from "./selection.js";

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

/** The partners that may be seen, strongest first; equal ones in the order of the sentence. */
function ranked(frame, token) {
  const values = weightsAround(frame, token);
  return values
    .map((weight, position) => ({ weight, position }))
    .filter(({ position }) => {
      const [row, column] = cellOf(frame.direction, { token, key: position });
      return hasKeys(frame, row) && isAllowed(frame, row, column);
    })
    .sort((a, b) => b.weight - a.weight || a.position - b.position);
}

function dressItem(item, entry, frame, shown) {
  const [own, others] = sides(frame);
  const { name, bar, figure, button } = item.parts;
  item.entry = entry;
  name.replaceChildren(named(others, entry.position));
  bar.style.width = `${Math.min(entry.weight, 1) * 100}%`;
  bar.hidden = entry.weight === 0;
  figure.textContent = percent(entry.weight, 2);
  button.title = exact(entry.weight);
  button.classList.toggle("current", entry.position === shown.key);
  button.setAttribute("aria-pressed", String(entry.position === shown.key));
  const parts = { token: spoken(own, shown.token), word: spoken(others, entry.position), weight: percent(entry.weight, 2) };
  button.setAttribute("aria-label", phrase(frame.strings[`rank_name_${frame.direction}`], parts));
}

function restOf(frame, rest) {
  if (rest.length === 0) return "";
  const sum = rest.reduce((total, { weight }) => total + weight, 0);
  const weight = frame.direction === "asks" ? sum : rest[0].weight;
  const key = `rest_${frame.direction}${rest.length === 1 ? "_one" : ""}`;
  return phrase(frame.strings[key], { count: rest.length, weight: percent(weight, 2) });
}

export class Ranking {
  /** calls: preview(key), leave(), choose(key) */
  constructor(calls) {
    const at = (event) => event.target.closest("li")?.entry.position;
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
    const items = fillTo(this.list, Math.min(LISTED, all.length), makeItem);
    items.forEach((item, k) => dressItem(item, all[k], frame, shown));
    this.rest.textContent = all.length === 0 ? strings[`ranking_none_${direction}`] : restOf(frame, all.slice(LISTED));
  }
}
