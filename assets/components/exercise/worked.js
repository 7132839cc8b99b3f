// The last hint of each stage: one cell of the last row, worked out with the numbers of this very exercise.
import { phrase } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { nameOf } from "../bench/model.js";
import { askers, plain } from "./given.js";

const bracketed = (value, text = plain(value)) => (value < 0 ? `(${text})` : text);
const short = (value) => plain(Number(value.toFixed(3)));

export function worked(ctx, stage) {
  const { arrays, stages, strings } = ctx;
  const i = arrays.q.rows - 1;
  const names = askers(ctx);
  return phrase(strings[`worked_${stage}`], { asker: names[i], key: nameOf(0), ...PARTS[stage](arrays, stages, i, names) });
}

const visible = (stages, i) => Array.from(stages.masked.row(i)).flatMap((value, j) => (value === -Infinity ? [] : [j]));

const PARTS = {
  scores: ({ q, k }, stages, i) => ({
    terms: Array.from(q.row(i), (value, c) => `${bracketed(value)}·${bracketed(k.at(0, c))}`).join(" + "),
    result: plain(stages.scores.at(i, 0)),
  }),
  scaled: ({ q }, stages, i) => ({
    score: plain(stages.scores.at(i, 0)), d: String(q.cols), root: short(Math.sqrt(q.cols)), result: short(stages.scaled.at(i, 0)),
  }),
  // Whoever comes first sees least.
  masked: ({ k }, stages, i, names) => ({
    asker: names[0], seen: visible(stages, 0).map(nameOf).join(", "), hidden: hiddenFrom(k, stages, 0).map(nameOf).join(", "),
  }),
  weights: (_, stages, i) => {
    const seen = visible(stages, i);
    const raised = seen.map((j) => Math.exp(stages.masked.at(i, j)));
    const sum = raised.reduce((a, b) => a + b, 0);
    return {
      powers: seen.map((j) => `e^${bracketed(stages.masked.at(i, j), short(stages.masked.at(i, j)))}`).join(" + "),
      first: fixed(raised[0], 3), sum: fixed(sum, 3), result: fixed(raised[0] / sum, 3),
    };
  },
  output: ({ v }, stages, i) => {
    const seen = visible(stages, i);
    return {
      terms: seen.map((j) => `${fixed(stages.weights.at(i, j), 3)}·${bracketed(v.at(j, 0))}`).join(" + "),
      result: fixed(stages.output.at(i, 0), 3),
    };
  },
};

function hiddenFrom(k, stages, i) {
  const seen = visible(stages, i);
  return Array.from({ length: k.rows }, (_, j) => j).filter((j) => !seen.includes(j));
}
