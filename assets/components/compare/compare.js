// Two sentences: the same asking word, both of its rows on one fixed scale, and what changed.

import { signedGradient, weightGradient } from "../shared/colour.js";
import { el } from "../shared/dom.js";
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";
import { statement } from "./statement.js";
import { table } from "./table.js";

const SHEETS = ["shared/ribbon.css", "compare/compare.css"];

function legend(name, gradient, marks) {
  const places = marks.map(([share, text]) => el("span", { class: "legend-mark", style: { left: `${share}%` }, text }));
  return el("figure", { class: "legend" },
    el("figcaption", { text: name }),
    el("div", { class: "ramp", style: { background: `linear-gradient(to right, ${gradient})` } }),
    el("div", { class: "legend-marks" }, places));
}

function legends(strings, theme) {
  return el("div", { class: "legends" },
    legend(strings.legend_weights, weightGradient(theme), [[0, "0"], [25, "0.25"], [50, "0.5"], [100, "1"]]),
    legend(strings.legend_difference, signedGradient(theme), [[0, "−100"], [50, "0"], [100, "+100"]]));
}

/** What is to be known of both sentences once, of one of them with its letter. */
function remarks({ sides }) {
  const [a, b] = sides.map((side) => side.remarks);
  const both = a.filter((text) => b.includes(text));
  const alone = [a, b].flatMap((texts, k) => texts.filter((text) => !both.includes(text)).map((text) => `${"AB"[k]}: ${text}`));
  return [...both, ...alone].map((text) => el("p", { class: "quiet note", text }));
}

class Compare {
  constructor(view) {
    this.view = view;
    this.said = el("div", { class: "said", role: "status" });
    this.room = el("div", { class: "room" });
    this.foot = el("div", { class: "foot" });
    view.append(this.said, this.room, this.foot);
    this.width = 0;
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(view);
    document.fonts?.ready.then(() => this.frame && this.layout());
  }

  update(frame, theme) {
    this.frame = frame;
    this.theme = theme;
    this.view.dataset.projector = frame.projector;
    this.said.replaceChildren(...statement(frame));
    this.layout();
    this.foot.replaceChildren(legends(frame.strings, theme), el("p", { class: "quiet note", text: frame.strings.changed_note }), ...remarks(frame));
    this.view.dataset.revision = frame.revision;
  }

  /** A column per word if they fit, else a line per word. */
  layout() {
    if (!this.view.isConnected) return; // A picture that has left the page has no size.
    const across = table(this.frame, this.theme, "across");
    this.room.replaceChildren(across);
    if (across.offsetWidth > this.room.clientWidth) this.room.replaceChildren(table(this.frame, this.theme, "down"));
  }

  resize() {
    const width = this.view.clientWidth;
    if (this.frame === undefined || width === this.width) return;
    this.width = width;
    this.layout();
  }
}

export default function draw({ data, parentElement }) {
  const state = mounted(parentElement, SHEETS);
  const frame = unpack(data);
  state.ready.then(() => {
    if (!state.view.isConnected) return; // The reader has left already.
    state.compare ??= new Compare(state.view);
    state.compare.update(frame, state.theme);
  });
  return () => state.compare?.watcher.disconnect();
}
