// What lies on the bench, as plain values, and everything that follows from it. Pure functions, no DOM; float64.
import { Matrix } from "../shared/frame.js";
import { attention, product, tabulate, total } from "../shared/attention.js";

export const VECTORS = ["q", "k", "v"];
export const WEIGHTS = ["w_q", "w_k", "w_v"];
const BEYOND = { mode: "vectors", query: 0, key: 0 };
const ROUND = 1e4; // Numbers stand on this grid, as in links and files.

/** The names of the tokens: letters, so that nobody asks whether they count from 0 or from 1. */
export const nameOf = (i) => "ABCDEF"[i];

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** A number on the grid and within the limit of its matrix. */
export function fit(value, limit) {
  const within = Math.min(Math.max(value, -limit), limit);
  return Math.round(within * ROUND) / ROUND + 0;
}

export const limitOf = (name, limits) => limits[name === "x" ? "x" : name.startsWith("w_") ? "w" : "v"];

export function matrixOf(rows) {
  return new Matrix(Float64Array.from(rows.flat()), rows.length, rows[0].length);
}

export const rowsOf = (matrix) => Array.from({ length: matrix.rows }, (_, i) => Array.from(matrix.row(i)));

/** Q, K and V as they are multiplied: those of the reader, or made from X. */
export function vectorsOf(state) {
  if (state.mode === "vectors") return Object.fromEntries(VECTORS.map((name) => [name, matrixOf(state[name])]));
  const x = matrixOf(state.x);
  return Object.fromEntries(VECTORS.map((name) => [name, product(x, matrixOf(state[`w_${name}`]))]));
}

/** Everything from Q, K and V to the output. */
export function stagesOf(state) {
  const { q, k, v } = vectorsOf(state);
  const allowed = state.is_causal ? tabulate(q.rows, k.rows, (i, j) => (j <= i ? 1 : 0)) : null;
  return { q, k, v, allowed, ...attention({ q, k, v, allowed, scale: 1 / Math.sqrt(q.cols) }) };
}

/** One cell changed. */
export function withCell(state, name, i, j, value) {
  const rows = state[name].map((row, at) => (at === i ? row.map((old, c) => (c === j ? value : old)) : row));
  return { ...state, [name]: rows };
}

/** Made from X or held themselves; what was made is where changing them begins. */
export function withMode(state, mode, limits) {
  if (mode === state.mode || mode !== BEYOND.mode) return { ...state, mode };
  const made = vectorsOf(state);
  const held = (name) => rowsOf(made[name]).map((row) => row.map((value) => fit(value, limits.v)));
  return { ...state, mode, ...Object.fromEntries(VECTORS.map((name) => [name, held(name)])) };
}

/** n tokens of d numbers. What is new is a 1 on a diagonal and 0 beside it, so that what was there stays as it was. */
export function withSize(state, n, d) {
  const grown = (rows, count) => Array.from({ length: count }, (_, i) =>
    Array.from({ length: d }, (_, c) => rows[i]?.[c] ?? (i >= rows.length && c === i % d ? 1 : 0)));
  const square = (rows) => Array.from({ length: d }, (_, i) =>
    Array.from({ length: d }, (_, c) => rows[i]?.[c] ?? (i === c ? 1 : 0)));
  const sized = Object.fromEntries(["x", ...VECTORS].map((name) => [name, grown(state[name], n)]));
  const weights = Object.fromEntries(WEIGHTS.map((name) => [name, square(state[name])]));
  const axes = state.axes.every((axis) => axis < d) ? state.axes : [0, 1];
  return { ...state, ...sized, ...weights, axes, query: Math.min(state.query, n - 1), key: Math.min(state.key, n - 1) };
}

export const lengthOf = (row) => Math.hypot(...row);

/** The angle between two vectors in degrees; null where one of them has no direction. */
export function angleOf(a, b) {
  const lengths = lengthOf(a) * lengthOf(b);
  if (!(lengths > 0)) return null;
  const cosine = total(Array.from(a, (value, c) => value * b[c])) / lengths;
  return (Math.acos(Math.min(Math.max(cosine, -1), 1)) * 180) / Math.PI;
}

/** The two shown dimensions of a vector. */
export const shadow = (row, axes) => axes.map((axis) => row[axis]);

/** What is to be said of the one who asks: who gets most, and what makes it so. */
export function factsOf(stages, i) {
  const { q, k, weights } = stages;
  const keys = Array.from({ length: k.rows }, (_, j) => j).filter((j) => !stages.allowed || stages.allowed.at(i, j));
  const [first, second] = [...keys].sort((a, b) => weights.at(i, b) - weights.at(i, a) || a - b);
  const angle = (j) => angleOf(q.row(i), k.row(j));
  const facts = { key: first, weight: weights.at(i, first), angle: angle(first), count: keys.length };
  if (keys.length === 1) return { ...facts, kind: "alone" };
  if (!(lengthOf(q.row(i)) > 0)) return { ...facts, kind: "no_question" };
  const close = Math.abs(weights.at(i, first) - weights.at(i, second)) < 1e-9;
  const other = { other: second, other_weight: weights.at(i, second), other_angle: angle(second) };
  if (close) return { ...facts, ...other, kind: keys.every((j) => Math.abs(weights.at(i, j) - facts.weight) < 1e-9) ? "all_equal" : "tie" };
  return { ...facts, ...other, ...reason(k, first, second, facts.angle, other.other_angle) };
}

/** Why the first one is ahead of the second: its direction, its length, or both. */
function reason(k, first, second, angle, otherAngle) {
  const [length, otherLength] = [lengthOf(k.row(first)), lengthOf(k.row(second))];
  if (angle === null || otherAngle === null) return { kind: "zero_key" };
  const ratio = length / otherLength;
  const isAhead = angle < otherAngle;
  if (isAhead && Math.abs(ratio - 1) < 0.02) return { kind: "closer", ratio };
  if (ratio > 1) return { kind: isAhead ? "both" : "longer", ratio };
  // Shorter, no nearer and still ahead: the question is turned away from both, and a long key loses more.
  return { kind: isAhead ? "closer_shorter" : "shorter", ratio };
}

/** Whether asking and answering are one: who asks whom makes no difference to the score. */
export function isSymmetric(scores) {
  for (let i = 0; i < scores.rows; i += 1) {
    for (let j = 0; j < i; j += 1) if (Math.abs(scores.at(i, j) - scores.at(j, i)) > 1e-9) return false;
  }
  return true;
}

/** What someone typed as a number, or null; a comma is a decimal point. */
export function numberOf(text) {
  const line = text.normalize("NFKC").replace(/[−–—]/g, "-").replace(/[,。]/g, ".").replace(/\s/g, "");
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(line) ? Number(line) : null;
}

/** A number as it stands in its cell: no more digits than it has. */
export const written = (value) => String(value).replace("-", "−");
