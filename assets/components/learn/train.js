// The Train button, how often such runs reach the pattern, and whether an order is under way.

import { el } from "../shared/dom.js";

const LONGEST_WAIT = 15000;
// A run that is under way or finished already answers as before; one that had ended needs longer to live again.
const GRACE = 1200;
const GRACE_ENDED = 4000;

export class TrainBar {
  /** calls: train(), rested() when the waiting ends by itself */
  constructor(calls) {
    this.calls = calls;
    this.busySince = null;
    this.button = el("button", { type: "button", class: "train", "data-action": "train", onclick: () => this.press() });
    this.reaches = el("p", { class: "reaches" });
    this.node = el("div", { class: "train-bar" }, this.button, this.reaches);
  }

  get busy() {
    return this.busySince !== null;
  }

  press() {
    if (this.busy) return;
    this.busySince = performance.now();
    this.timer = setTimeout(() => {
      this.rest();
      this.calls.rested();
    }, LONGEST_WAIT);
    this.calls.train();
  }

  rest() {
    clearTimeout(this.timer);
    this.busySince = null;
  }

  /** The order has arrived when every run is there and answers. */
  hear(films) {
    if (!this.busy || films.includes(null) || films.some(({ state }) => state === "asking")) return;
    const grace = films.some((film) => film.ended) ? GRACE_ENDED : GRACE;
    if (performance.now() - this.busySince > grace) this.rest();
  }

  update({ strings, runs }) {
    this.strings = strings;
    const said = runs.filter(({ reaches }) => reaches).map(({ title, reaches }) => {
      return el("span", {}, runs.length > 1 ? el("b", { text: `${title}: ` }) : "", reaches);
    });
    this.reaches.replaceChildren(...said);
  }

  show() {
    const { button, busy, strings } = this;
    const text = strings[busy ? "train_busy" : "train"];
    if (button.textContent !== text) button.textContent = text;
    button.setAttribute("aria-busy", String(busy));
    button.setAttribute("aria-disabled", String(busy));
  }
}
