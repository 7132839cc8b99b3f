// The text as tokens in a row: the typed ones, the written ones, and the last one, which has not looked around yet.

import { chipColour } from "../shared/colour.js";
import { el, phrase } from "../shared/dom.js";
import { fillTo, named, spoken } from "../shared/words.js";

const kindOf = (sheet, i) => (i === sheet.unread ? "unread" : i < sheet.nPrompt ? "typed" : "written");

function makeToken() {
  const button = el("button", { type: "button", class: "token" });
  const item = el("li", {}, button);
  item.button = button;
  return item;
}

export class Tokens {
  /** calls: preview(i), leave(), choose(i) */
  constructor(calls) {
    this.calls = calls;
    this.home = 0;
    this.list = el("ol", { class: "tokens" });
    this.node = el("div", { class: "paper" }, this.list);
    const at = (event) => {
      const item = event.target.closest?.("li");
      return item ? [...this.list.children].indexOf(item) : -1;
    };
    this.list.addEventListener("pointerover", (event) => at(event) >= 0 && event.pointerType !== "touch" && calls.preview(at(event)));
    this.list.addEventListener("pointerleave", () => calls.leave());
    this.list.addEventListener("click", (event) => at(event) >= 0 && calls.choose(at(event)));
    this.list.addEventListener("focusin", (event) => {
      if (at(event) < 0) return;
      this.settle(at(event));
      calls.preview(at(event));
    });
    this.list.addEventListener("keydown", (event) => this.press(event));
  }

  update(sheet, strings) {
    const grew = sheet.tokens.length > this.list.children.length;
    const items = fillTo(this.list, sheet.tokens.length, makeToken);
    this.list.setAttribute("aria-label", strings.tokens_name);
    items.forEach(({ button }, i) => {
      const kind = kindOf(sheet, i);
      const { shown, special, unknown } = sheet.tokens[i];
      const key = JSON.stringify([shown, special, unknown, kind, i, strings.token_typed]);
      if (button.key === key) return;
      button.key = key;
      button.replaceChildren(named(sheet.tokens, i));
      button.dataset.position = i;
      button.dataset.kind = kind;
      button.setAttribute("aria-label", phrase(strings[`token_${kind}`], { token: spoken(sheet.tokens, i), position: i }));
    });
    // A name has its place beside it once the same one stands there twice.
    if (grew) items.forEach(({ button }, i) => button.firstElementChild.replaceWith(named(sheet.tokens, i)));
    this.settle(Math.min(this.home, Math.max(items.length - 1, 0)));
    if (grew && sheet.active) this.node.scrollTop = this.node.scrollHeight;
  }

  /** at: whose row is looked at; key: the token that is looked at, or null; locked: the one that is kept. */
  show(sheet, { at, key, locked }, theme) {
    const row = sheet.rows[at] ?? null;
    [...this.list.children].forEach(({ button }, i) => {
      const asks = i === at;
      const { fill, ink } = row !== null && i < row.length && !asks ? chipColour(row[i], theme, "key") : { fill: "", ink: "" };
      button.style.background = fill;
      button.style.color = ink;
      button.classList.toggle("asks", asks);
      button.classList.toggle("key", i === key && !asks);
      button.setAttribute("aria-pressed", String(i === locked));
    });
  }

  settle(i) {
    const items = this.list.children;
    if (this.home !== i) items[this.home]?.button.setAttribute("tabindex", "-1");
    for (const { button } of items) if (!button.hasAttribute("tabindex")) button.setAttribute("tabindex", "-1");
    this.home = i;
    items[i]?.button.setAttribute("tabindex", "0");
  }

  press(event) {
    const last = this.list.children.length - 1;
    const to = { ArrowRight: this.home + 1, ArrowDown: this.home + 1, ArrowLeft: this.home - 1, ArrowUp: this.home - 1, Home: 0, End: last }[event.key];
    if (to === undefined || to < 0 || to > last) return;
    event.preventDefault();
    this.settle(to);
    this.list.children[to].button.focus();
  }
}
