// The five stages of attention in float64: scores → scaled → masked → weights → output.
// Rows are queries (who asks), columns are keys (who answers). Pure functions over Matrix; no DOM.
import { Matrix } from "./frame.js";

/** A new rows × cols matrix of float64, filled from (i, j) → number. */
export function tabulate(rows, cols, value) {
  const data = new Float64Array(rows * cols);
  for (let i = 0; i < rows; i += 1) for (let j = 0; j < cols; j += 1) data[i * cols + j] = value(i, j);
  return new Matrix(data, rows, cols);
}

export function transpose(a) {
  return tabulate(a.cols, a.rows, (i, j) => a.at(j, i));
}

/** The terms a[i, c] · b[c, j] of one cell of a·b, in order. */
export function terms(a, b, i, j) {
  return Array.from({ length: a.cols }, (_, c) => a.at(i, c) * b.at(c, j));
}

/** Left to right, so that a reader who adds up the bill gets the same number. */
export function total(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** a·b, each cell summed left to right. */
export function product(a, b) {
  return tabulate(a.rows, b.cols, (i, j) => total(terms(a, b, i, j)));
}

/** scores[i, j] = q_i · k_j, term by term in the order of the dimensions. */
export function scoresOf(q, k) {
  return product(q, transpose(k));
}

export function scaledOf(scores, scale, bias = null) {
  return tabulate(scores.rows, scores.cols, (i, j) => scores.at(i, j) * scale + (bias === null ? 0 : bias.at(i, j)));
}

/** −∞ where the key may not be seen: exp(−∞) is exactly 0. */
export function maskedOf(scaled, allowed = null) {
  if (allowed === null) return scaled;
  return tabulate(scaled.rows, scaled.cols, (i, j) => (allowed.at(i, j) ? scaled.at(i, j) : -Infinity));
}

/**
 * masked → { rowMax, exp, rowSum, weights }. Softmax ignores a constant shift; subtracting the row's largest
 * keeps exp() finite. A row without keys has no largest value: its exp, sum and weights are all 0.
 */
export function softmaxOf(masked) {
  const rowMax = tabulate(masked.rows, 1, (i) => masked.row(i).reduce((a, b) => Math.max(a, b), -Infinity));
  const seen = (i) => rowMax.at(i, 0) !== -Infinity;
  const exp = tabulate(masked.rows, masked.cols, (i, j) => (seen(i) ? Math.exp(masked.at(i, j) - rowMax.at(i, 0)) : 0));
  const rowSum = tabulate(masked.rows, 1, (i) => total(exp.row(i)));
  const weights = tabulate(masked.rows, masked.cols, (i, j) => (seen(i) ? exp.at(i, j) / rowSum.at(i, 0) : 0));
  return { rowMax, exp, rowSum, weights };
}

/** One head's whole walk: q (n, d), k (m, d), v (m, d_v), allowed u1 (n, m) or null, bias (n, m) or null. */
export function attention({ q, k, v, scale, allowed = null, bias = null }) {
  const scores = scoresOf(q, k);
  const scaled = scaledOf(scores, scale, bias);
  const masked = maskedOf(scaled, allowed);
  const soft = softmaxOf(masked);
  return { scores, scaled, masked, ...soft, output: product(soft.weights, v) };
}

/** The largest absolute finite value: the range of a signed scale. */
export function reachOf(matrix) {
  let reach = 0;
  for (const value of matrix.data) if (Number.isFinite(value)) reach = Math.max(reach, Math.abs(value));
  return reach;
}
