// The stages of one head in the browser, a row at a time: scores → scaled → masked → weights → output. Only rows that
// somebody looks at are made, so that a long text costs no more than what is on screen.
//
// Every number is added up in float64, left to right, and then kept as the model keeps it: in float64 for the taught
// models, rounded to float32 where q and k are float32. Sums that a linear algebra library adds in another order may
// differ from these in the last digits of a float32.
import { Matrix } from "../shared/frame.js";
import { total } from "../shared/attention.js";

/** A matrix whose rows are made when they are first looked at; `reach` is its largest absolute number. */
export class RowMatrix {
  constructor(rows, cols, make, reach = 0) {
    Object.assign(this, { rows, cols, make, reach });
    this.made = new Map();
  }

  row(i) {
    if (!this.made.has(i)) this.made.set(i, this.make(i));
    return this.made.get(i);
  }

  at(i, j) {
    return this.row(i)[j];
  }
}

/** The same numbers, seen the other way round; nothing is copied. */
export const turned = (matrix) => ({ rows: matrix.cols, cols: matrix.rows, at: (i, j) => matrix.at(j, i) });

/** a·b of one row of a: Σ_c row[c] · b[c, j] for every j. */
export function rowTimes(row, b, Kind) {
  const sums = new Float64Array(b.cols);
  for (let c = 0; c < row.length; c += 1) {
    const factor = row[c];
    const line = b.row(c);
    for (let j = 0; j < b.cols; j += 1) sums[j] += factor * line[j];
  }
  return Kind === Float64Array ? sums : Kind.from(sums);
}

function dots(row, k, Kind) {
  const { data, rows, cols } = k;
  const found = new Kind(rows);
  for (let j = 0, at = 0; j < rows; j += 1) {
    let sum = 0;
    for (let c = 0; c < cols; c += 1, at += 1) sum += row[c] * data[at];
    found[j] = sum;
  }
  return found;
}

/** One masked row → { max, exp, sinkExp, sum, weights, sink }; a row with neither keys nor sink is zeros. */
function softmaxOf(masked, sinkLogit, Kind) {
  const max = masked.reduce((a, b) => Math.max(a, b), sinkLogit ?? -Infinity);
  if (max === -Infinity) return { max, exp: new Kind(masked.length), sinkExp: 0, sum: 0, weights: new Kind(masked.length), sink: 0 };
  const exp = masked.map((value) => Math.exp(value - max));
  const rounded = (value) => Kind.of(value)[0];
  const sinkExp = sinkLogit === null ? 0 : rounded(Math.exp(sinkLogit - max));
  const sum = rounded(total(exp) + sinkExp);
  return { max, exp, sinkExp, sum, weights: exp.map((value) => value / sum), sink: rounded(sinkExp / sum) };
}

/**
 * arrays: { q, k, v, bias?, allowed? }; facts: { scale, softcap, sink, reach } → every stage as a matrix.
 * `times` is scores · scale, `capped` what a soft-cap makes of it; row sums, maxima and the sink's share have one column.
 */
export function stagesOf({ q, k, v, bias, allowed }, { scale, softcap, sink, reach }) {
  const Kind = q.data.constructor;
  const grid = (make, most) => new RowMatrix(q.rows, k.rows, make, most);
  const single = (make) => new RowMatrix(q.rows, 1, (i) => [make(i)]);
  const scores = grid((i) => dots(q.row(i), k, Kind), reach.scores);
  const times = grid((i) => scores.row(i).map((value) => value * scale), reach.scores * Math.abs(scale));
  const capped = softcap === null ? times
    : grid((i) => times.row(i).map((value) => softcap * Math.tanh(value / softcap)), Math.min(times.reach, softcap));
  const scaled = bias ? grid((i) => capped.row(i).map((value, j) => value + bias.at(i, j)), reach.scaled) : capped;
  const masked = allowed ? grid((i) => scaled.row(i).map((value, j) => (allowed.at(i, j) ? value : -Infinity)), reach.scaled) : scaled;
  const soft = new RowMatrix(q.rows, k.rows, (i) => softmaxOf(masked.row(i), sink, Kind));
  const weights = grid((i) => soft.row(i).weights, 1);
  return {
    scores, times, capped, scaled, masked, weights, exp: grid((i) => soft.row(i).exp, 1),
    rowMax: single((i) => soft.row(i).max), rowSum: single((i) => soft.row(i).sum),
    sinkExp: single((i) => soft.row(i).sinkExp), sink: single((i) => soft.row(i).sink),
    output: new RowMatrix(q.rows, v.cols, (i) => rowTimes(weights.row(i), v, Kind), reach.output),
  };
}

/** Of a head of which only the weights are known. */
export function weightsOnly({ weights }) {
  return { weights, sink: new RowMatrix(weights.rows, 1, () => [0]) };
}

/** Rows side by side as one small matrix. */
export function stacked(rows) {
  const cols = rows[0].length;
  return new Matrix(Float64Array.from(rows.flatMap((row) => [...row])), rows.length, cols);
}
