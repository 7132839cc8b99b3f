// Every stage of the formula as a matrix, and (where they are made from X) Q, K and V; a cell chooses its pair.
import { el } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { MatrixView } from "../shared/matrix.js";
import { signedScale, weightScale } from "../shared/matrix_cells.js";
import { nameOf, VECTORS } from "./model.js";
import { symbolOf } from "./symbols.js";

// What is not nothing never reads as nothing.
const share = (value) => (value > 0 && value < 0.005 ? "<.01" : fixed(value, 2));
const two = (value) => fixed(value, 2);

export class StageMatrices {
  constructor(desk) {
    this.desk = desk;
    this.node = el("div", { class: "stages" });
    this.views = new Map();
  }

  update() {
    const { state, stages } = this.desk;
    const wanted = [...(state.mode === "matrices" ? VECTORS : []), "scores", "scaled", ...(state.is_causal ? ["masked"] : []), "weights", "output"];
    const built = `${wanted} ${stages.q.rows} ${stages.q.cols}`;
    if (built !== this.built) this.build(wanted);
    this.built = built;
    for (const [name, view] of this.views) view.change({ values: stages[name], scale: this.scale(name) });
    this.light();
  }

  build(wanted) {
    this.views = new Map(wanted.map((name) => [name, this.matrix(name)]));
    this.node.replaceChildren(...[...this.views.values()].map((view) => view.node));
  }

  scale(name) {
    const { stages, theme } = this.desk;
    if (name === "weights") return { ...weightScale(theme), format: share, chars: 4 };
    return { ...signedScale(stages[name], theme), format: two, chars: 5.5 };
  }

  matrix(name) {
    const { strings, stages } = this.desk;
    const isVector = VECTORS.includes(name);
    const isPair = !isVector && name !== "output";
    const tokens = Array.from({ length: stages.q.rows }, (_, i) => ({ text: nameOf(i) }));
    const dims = Array.from({ length: stages.q.cols }, (_, c) => ({ text: String(c) }));
    const axes = isPair ? strings.axes_query_key : isVector ? strings.axes_token_dim : strings.axes_query_dim;
    const title = isVector ? symbolOf(name) : strings[`stage_${name}`];
    const tones = { q: "q", k: "k", v: "v", output: "o" };
    return new MatrixView({
      key: name, name: [title], tone: tones[name], axes, meaning: strings[`how_${name}`], values: stages[name], stage: name,
      scale: this.scale(name), rowLabels: tokens, colLabels: isPair ? tokens : dims, strings, label: isVector ? name.toUpperCase() : strings[`stage_${name}`],
      kind: this.kind(name), choose: (i, j) => this.choose(name, i, j),
    });
  }

  kind(name) {
    if (name !== "masked" && name !== "weights") return undefined;
    return (i, j) => (this.desk.stages.allowed === null || this.desk.stages.allowed.at(i, j) ? "value" : "forbidden");
  }

  choose(name, i, j) {
    if (name === "k" || name === "v") this.desk.look({ key: i });
    else if (name === "q" || name === "output") this.desk.look({ query: i });
    else this.desk.look({ query: i, key: j });
  }

  light() {
    const { query, key } = this.desk.state;
    for (const [name, view] of this.views) {
      const row = name === "k" || name === "v" ? [key, "k"] : [query, "q"];
      const isPair = !VECTORS.includes(name) && name !== "output";
      view.light({ rows: [row], cols: isPair ? [[key, "k"]] : [], cell: isPair ? [query, key] : null });
    }
  }
}
