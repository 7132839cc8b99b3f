// The words in the order in which they are fed. A press silences one; dragging it, or Shift and an arrow, moves it.

import { el, phrase } from "../shared/dom.js";
import { fillTo, named, repeated, spoken } from "../shared/words.js";

export class Fed {
  /** calls: silence(token), order([token …]) */
  constructor(calls) {
    this.calls = calls;
    this.title = el("h2");
    this.hint = el("p", { class: "quiet hint" });
    this.row = el("div", { class: "fed", role: "group" });
    this.node = el("section", { class: "fed-part" }, this.title, this.row, this.hint);
    this.home = 0;
    this.row.addEventListener("keydown", (event) => this.press(event));
    this.row.addEventListener("pointerdown", (event) => this.grab(event));
    this.row.addEventListener("pointermove", (event) => this.drag(event));
    this.row.addEventListener("pointerup", () => this.drop());
    this.row.addEventListener("pointercancel", () => this.drop());
    this.row.addEventListener("focusin", (event) => this.settle(event.target.closest(".fed-chip")));
  }

  update({ tokens, order, silenced, strings }) {
    this.order = [...order];
    this.title.textContent = strings.words_title;
    this.hint.textContent = strings.words_hint;
    this.row.setAttribute("aria-label", strings.words_title);
    this.chips ??= [];
    this.chips = fillTo(this.row, tokens.length, () => this.make());
    this.chips.forEach((chip, token) => {
      const place = order.indexOf(token);
      const isSilent = silenced.includes(token);
      chip.dataset.position = token;
      chip.setAttribute("aria-pressed", String(isSilent));
      chip.setAttribute("aria-label", phrase(isSilent ? strings.chip_silent : strings.chip, { word: spoken(tokens, token), place }));
      chip.classList.toggle("moved", place !== token);
      // Where the name has the place already, it is not said twice.
      const isSaid = place === token && repeated(tokens).has(token);
      chip.lastElementChild.replaceChildren(named(tokens, token), isSaid ? "" : el("small", { class: "place quiet", text: place }));
      chip.style.order = place;
    });
    this.settle(this.chips[Math.min(this.home, tokens.length - 1)]);
  }

  make() {
    const chip = el("button", { type: "button", class: "fed-chip" },
      el("span", { class: "grip", "aria-hidden": "true", text: "⠿" }), el("span", { class: "fed-word" }));
    chip.addEventListener("click", () => {
      if (!this.moved) this.calls.silence(Number(chip.dataset.position));
    });
    return chip;
  }

  settle(chip) {
    if (!chip) return;
    this.home = Number(chip.dataset.position);
    this.chips.forEach((other) => other.setAttribute("tabindex", other === chip ? "0" : "-1"));
  }

  /** The token at `place`, after the word that stands at `from` was taken out and put in at `to`. */
  shift(from, to) {
    if (from === to || to < 0 || to >= this.order.length) return false;
    const [token] = this.order.splice(from, 1);
    this.order.splice(to, 0, token);
    this.order.forEach((each, place) => {
      this.chips[each].style.order = place;
    });
    return true;
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const place = this.order.indexOf(this.home);
    if (event.shiftKey) {
      if (this.shift(place, place + step)) this.calls.order([...this.order]);
      return;
    }
    this.chips[this.order[place + step]]?.focus();
  }

  grab(event) {
    const chip = event.target.closest(".fed-chip");
    this.moved = false;
    // A finger scrolls the page, except on the grip.
    if (!chip || (event.pointerType === "touch" && !event.target.closest(".grip"))) return;
    this.held = { token: Number(chip.dataset.position), x: event.clientX, y: event.clientY };
  }

  drag(event) {
    if (!this.held) return;
    const far = Math.hypot(event.clientX - this.held.x, event.clientY - this.held.y);
    if (!this.moved && far < 6) return;
    if (!this.moved) this.row.setPointerCapture(event.pointerId);
    this.moved = true;
    this.chips[this.held.token].classList.add("held");
    const over = this.chips.findIndex((chip) => {
      const { left, right, top, bottom } = chip.getBoundingClientRect();
      return event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
    });
    if (over >= 0 && over !== this.held.token) this.shift(this.order.indexOf(this.held.token), this.order.indexOf(over));
  }

  drop() {
    if (this.held && this.moved) {
      this.chips[this.held.token].classList.remove("held");
      this.calls.order([...this.order]);
    }
    this.held = null;
  }
}
