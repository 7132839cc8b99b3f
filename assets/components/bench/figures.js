// The chosen pair in figures: two lengths, the angle, and the way from them to the score and the weight.
import { el } from "../shared/dom.js";
import { valueAttributes } from "../shared/matrix_cells.js";
import { fixed, percent } from "../shared/numbers.js";
import { angleOf, lengthOf, shadow } from "./model.js";
import { vectorSymbol } from "./symbols.js";

const degrees = (angle) => (angle === null ? "–" : `${fixed(angle, 1)}°`);

export class Figures {
  constructor(desk) {
    this.desk = desk;
    this.body = el("tbody");
    this.node = el("div", { class: "figures" },
      el("table", {}, el("caption", { class: "unseen", text: desk.strings.figures }), this.body));
  }

  update() {
    const { state, stages, strings } = this.desk;
    const { query: i, key: j } = state;
    const [q, k] = [stages.q.row(i), stages.k.row(j)];
    const angle = angleOf(q, k);
    const isSeen = !stages.allowed || stages.allowed.at(i, j);
    const [qs, ks] = [() => vectorSymbol("q", i), () => vectorSymbol("k", j)];
    const d = q.length;
    const cosine = angle === null ? null : Math.cos((angle * Math.PI) / 180);
    const rows = [
      this.row([strings.length_of, " ", qs()], lengthOf(q), "length_q", (value) => fixed(value, 2)),
      this.row([strings.length_of, " ", ks()], lengthOf(k), "length_k", (value) => fixed(value, 2)),
      this.row([strings.angle, " ", qs(), " ", ks()], angle, "angle", degrees, this.inPlane(q, k)),
      this.row([qs(), " · ", ks()], stages.scores.at(i, j), "score", (value) => fixed(value, 2),
        angle === null ? "" : `= ${fixed(lengthOf(q), 2)} × ${fixed(lengthOf(k), 2)} × cos ${degrees(angle)} (${fixed(cosine, 2)})`),
      this.row([`÷ √${d}`], stages.scaled.at(i, j), "scaled", (value) => fixed(value, 2)),
      this.row([strings.weight], stages.weights.at(i, j), "weight", (value) => percent(value), isSeen ? "" : strings.not_seen),
    ];
    this.body.replaceChildren(...rows);
  }

  row(label, value, stage, format, more = "") {
    const { query, key } = this.desk.state;
    const shown = value === null ? {} : valueAttributes(stage, query, key, value);
    return el("tr", {}, el("th", { scope: "row" }, label), el("td", { class: "figure", text: format(value), ...shown }), el("td", { class: "quiet", text: more }));
  }

  /** With more than two dimensions the angle that is seen is another one than the angle that counts. */
  inPlane(q, k) {
    const { axes } = this.desk.state;
    if (q.length === 2) return "";
    const seen = angleOf(shadow(q, axes), shadow(k, axes));
    return this.desk.strings.angle_seen.replace("{angle}", degrees(seen)).replace("{d}", String(q.length));
  }
}
