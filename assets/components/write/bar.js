// Write, stop, one more, start over; and how it is going.

import { el, phrase } from "../shared/dom.js";

const SIGN_AFTER = 150; // Milliseconds of work before a sign of it shows.

export class Bar {
  /** calls: write(n), stop(), restart() */
  constructor(calls) {
    const act = (name, action) => el("button", { type: "button", class: name, "data-action": name, onclick: () => this.may(name) && action() });
    this.main = el("button", { type: "button", class: "main", "data-action": "main", onclick: () => this.pressMain(calls) });
    this.one = act("one", () => calls.write(1));
    this.again = act("again", () => calls.restart());
    this.sign = el("span", { class: "work", "aria-hidden": "true" });
    this.line = el("span", { class: "line" });
    this.said = el("span", { class: "unseen", role: "status" });
    this.node = el("div", { class: "bar-line" }, el("div", { class: "buttons" }, this.main, this.one, this.again), el("p", { class: "state" }, this.sign, this.line), this.said);
    this.ordered = null;
  }

  may(name) {
    return this[name].getAttribute("aria-disabled") !== "true";
  }

  pressMain(calls) {
    if (!this.may("main")) return;
    if (this.mode === "stop") calls.stop();
    else calls.write(this.frame.per_press);
  }

  /** ordered: what was asked for and not heard of yet. */
  show(sheet, frame, ordered) {
    const { strings } = frame;
    this.frame = frame;
    const writes = ordered === "write" || (ordered !== "stop" && (sheet.state === "writing" || (sheet.state === "waiting" && this.mode === "stop")));
    this.mode = writes ? "stop" : "write";
    const over = sheet.end !== null || sheet.state === "gone" || sheet.state === "failed" || sheet.tokens.length === 0;
    const label = writes ? "stop" : sheet.choices.length ? "continue" : "write";
    write(this.main, strings[label]);
    this.main.dataset.mode = label;
    write(this.one, strings.one);
    write(this.again, strings.again);
    const busy = sheet.active || ordered !== null;
    disable(this.main, writes ? ordered === "stop" : busy || over);
    disable(this.one, busy || over);
    disable(this.again, sheet.choices.length === 0);
    this.busySince = busy ? this.busySince ?? performance.now() : null;
    clearTimeout(this.timer);
    this.sign.hidden = !busy || performance.now() - this.busySince < SIGN_AFTER;
    if (busy && this.sign.hidden) this.timer = setTimeout(() => (this.sign.hidden = false), SIGN_AFTER);
    const text = this.lineOf(sheet, strings, writes);
    write(this.line, text);
    // Read aloud when it rests, not at every token.
    if (!busy) write(this.said, `${text} ${sheet.tokens.slice(sheet.nPrompt).map(({ shown }) => shown).join(" ")}`);
  }

  lineOf(sheet, strings, writes) {
    if (sheet.state === "gone") return strings.gone;
    if (sheet.error) return sheet.error;
    const parts = { n: sheet.choices.length, prompt: sheet.nPrompt, limit: this.frame.limit };
    if (sheet.end) return phrase(strings[`end_${sheet.end}`], parts);
    if (writes) return phrase(strings.state_writing, parts);
    if (sheet.tokens.length === 0 || sheet.state === "reading") return strings.state_reading;
    if (sheet.state === "checking") return strings.state_checking;
    return phrase(strings[sheet.choices.length ? "state_resting" : "state_begin"], parts);
  }
}

/** A button that has the focus stays reachable while it cannot be pressed. */
function disable(button, off) {
  button.setAttribute("aria-disabled", String(off));
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
