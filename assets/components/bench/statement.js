// One sentence about the one who asks, made from the numbers; what the ready-made numbers are there to show.
import { el, sentence } from "../shared/dom.js";
import { fixed, percent } from "../shared/numbers.js";
import { isPreset } from "./bar.js";
import { factsOf, isSymmetric } from "./model.js";
import { tokenSymbol } from "./symbols.js";

export class Said {
  constructor(desk) {
    this.desk = desk;
    this.line = el("p", { class: "said", "aria-live": "polite" });
    this.note = el("p", { class: "quiet small note" });
    this.node = el("div", {}, this.line, this.note);
  }

  update() {
    const { state, stages, strings } = this.desk;
    const facts = factsOf(stages, state.query);
    const parts = this.parts(facts);
    // A part that a sentence uses twice stands there twice.
    const told = sentence(strings[`said_${facts.kind}`], parts).map((piece) => (piece instanceof Node ? piece.cloneNode(true) : piece));
    this.line.replaceChildren(...told);
    this.line.dataset.kind = facts.kind;
    const symmetric = stages.q.rows > 1 && isSymmetric(stages.scores) ? strings.symmetric : "";
    this.note.replaceChildren(...[this.about(), symmetric].filter(Boolean).map((text) => el("span", { text })));
  }

  parts(facts) {
    const number = (text) => el("b", { class: "number", text });
    const degrees = (angle) => (angle === null || angle === undefined ? "–" : `${fixed(angle, 0)}°`);
    return {
      asker: tokenSymbol(this.desk.state.query, "q"),
      key: tokenSymbol(facts.key, "k"),
      other: facts.other === undefined ? "" : tokenSymbol(facts.other, "k"),
      weight: number(percent(facts.weight)),
      other_weight: facts.other_weight === undefined ? "" : number(percent(facts.other_weight)),
      angle: number(degrees(facts.angle)),
      other_angle: number(degrees(facts.other_angle)),
      ratio: number(times(facts.ratio)),
      count: String(facts.count),
    };
  }

  /** What a preset shows is said as long as its numbers are untouched. */
  about() {
    const { state, header } = this.desk;
    return header.presets.find((preset) => isPreset(state, preset.state))?.about ?? "";
  }
}

/** How many times as long; a ratio that would read as 1 keeps another digit. */
function times(ratio) {
  if (ratio === undefined || !Number.isFinite(ratio)) return "∞";
  const digits = [1, 2, 3, 4].find((most) => Math.abs(ratio - 1) >= 0.5 * 10 ** -most);
  return fixed(ratio, digits ?? 5);
}
