// What could come next: the likeliest tokens with their exact probabilities, and the one that was taken.

import { el, phrase, sentence } from "../shared/dom.js";
import { exact, percent } from "../shared/numbers.js";
import { fillTo, named, spoken } from "../shared/words.js";

const LISTED = 10;

function makeItem() {
  const parts = { mark: el("span", { class: "mark-taken", "aria-hidden": "true" }), name: el("bdi", { class: "said" }), bar: el("span", { class: "bar" }), share: el("span", { class: "share" }), chance: el("span", { class: "chance quiet" }) };
  const button = el("button", { type: "button", class: "candidate" }, parts.mark, parts.name, el("span", { class: "track" }, parts.bar), parts.share, parts.chance);
  const item = el("li", {}, button);
  item.parts = { ...parts, button };
  return item;
}

export class Candidates {
  /** calls: take(place, id) */
  constructor(calls) {
    this.title = el("h2");
    this.list = el("ol", { class: "candidates" });
    this.others = el("p", { class: "others quiet" });
    this.how = el("p", { class: "others quiet" });
    this.node = el("section", { class: "next" }, this.title, el("div", { class: "next-room" }, this.list, this.others, this.how));
    this.node.style.setProperty("--listed", LISTED + 1);
    this.list.addEventListener("click", (event) => {
      const item = event.target.closest("li");
      if (item && !item.taken) calls.take(item.place, item.id);
    });
  }

  show(sheet, at, frame) {
    const { strings } = frame;
    const found = at === null ? null : sheet.after(at);
    this.title.replaceChildren(...(at === null ? [strings.list_title_none] : sentence(strings.list_title, { token: named(sheet.tokens, at, "q") })));
    if (found === null) {
      this.list.replaceChildren();
      this.others.textContent = at === null ? "" : strings[at === sheet.unread ? "list_unread" : "list_typed"];
      this.how.textContent = "";
      return;
    }
    const outside = found.chosen.rank >= found.candidates.length && !found.coming;
    const listed = outside ? [...found.candidates, found.chosen] : found.candidates;
    fillTo(this.list, listed.length, makeItem).forEach((item, k) => this.dress(item, listed[k], found, frame, sheet, at));
    const rest = 1 - listed.reduce((sum, { probability }) => sum + probability, 0);
    this.others.textContent = rest > 1e-12 ? phrase(strings.list_rest, { share: percent(rest, 2) }) : "";
    this.how.textContent = frame.temperature === null ? strings.how_greedy_note : phrase(strings.how_sampled_note, { temperature: frame.temperature });
  }

  dress(item, one, found, frame, sheet, at) {
    const { strings } = frame;
    const { mark, name, bar, share, chance, button } = item.parts;
    const taken = !found.coming && one.id === found.chosen.id;
    Object.assign(item, { place: found.place, id: one.id, taken });
    mark.textContent = taken ? "✓" : one.rank >= LISTED ? `${one.rank + 1}.` : "";
    name.textContent = one.shown;
    bar.style.width = `${one.probability * 100}%`;
    share.textContent = percent(one.probability, 2);
    share.title = exact(one.probability);
    chance.textContent = frame.temperature === null ? "" : percent(one.chance, 1);
    chance.title = frame.temperature === null ? "" : exact(one.chance);
    button.classList.toggle("taken", taken);
    button.setAttribute("aria-pressed", String(taken));
    button.title = taken ? strings.candidate_taken : strings.candidate_take;
    const parts = { token: one.shown, probability: percent(one.probability, 2), after: spoken(sheet.tokens, at) };
    button.setAttribute("aria-label", phrase(strings[taken ? "candidate_name_taken" : "candidate_name"], parts));
  }
}
