// What a cell of a head is and what is said of it: the same for cells that are elements and for cells that are painted.
//
// A model is { tokens, keys, weights, allowed, hidden, hasKeys, noKey, removed, leftOut, sink, isPair, strings, theme };
// of a head that comes as squares, weights are the squares' and { square, states, peakRows, peakColumns } tell of them.
// exactAt(row, column) → the weight of one cell, null where it is not known; stateAt(row, column) → what it is.

import { el, sentence } from "./dom.js";
import { exact } from "./numbers.js";
import { named } from "./words.js";

const OF_SQUARE = ["open", "masked", "partly", "hidden"];

/** "open", "masked", "hidden" (left out of this view) or "nokeys". */
export function cellState({ hasKeys, allowed, hidden }, i, j) {
  if (hasKeys && !hasKeys.data[i]) return "nokeys";
  if (allowed && !allowed.at(i, j)) return "masked";
  return hidden?.at(i, j) ? "hidden" : "open";
}

/** The same of a square, which may also be "partly" masked. */
export const squareState = ({ states }, i, j) => OF_SQUARE[states.at(i, j)];

/** The cell of a square that holds its largest weight, as [row, column] of the head. */
export function peakOf({ square, peakRows, peakColumns }, i, j) {
  return [i * square[0] + peakRows.at(i, j), j * square[1] + peakColumns.at(i, j)];
}

function put(readout, template, parts) {
  readout.replaceChildren(...sentence(template, parts));
}

/** Write what stands at a cell; nulls: at none. */
export function readInto(readout, model, row, column) {
  const { strings, tokens, keys } = model;
  const isBlank = row !== null && model.hasKeys && !model.hasKeys.data[row];
  if (isBlank) put(readout, strings.readout_nokeys, { asker: named(tokens, row, "q") });
  else if (row === null || column === null || model.exactAt(row, column) === null) put(readout, strings.readout_none, {});
  else {
    const state = model.stateAt(row, column);
    const parts = { asker: named(tokens, row, "q"), key: named(keys, column, "k"), weight: exact(model.exactAt(row, column)) };
    put(readout, strings[state === "open" ? "readout" : `readout_${state}`], parts);
  }
}

/** Write what stands at a square: its largest cell, and how many cells it stands for. */
export function readSquareInto(readout, model, i, j) {
  const { strings, tokens, keys, weights, square } = model;
  const state = squareState(model, i, j);
  const sides = [Math.min(square[0], tokens.length - i * square[0]), Math.min(square[1], keys.length - j * square[1])];
  const parts = { count: String(sides[0] * sides[1]) };
  if (state === "masked" || state === "hidden") return put(readout, strings[`readout_square_${state}`], parts);
  const [row, column] = peakOf(model, i, j);
  Object.assign(parts, { asker: named(tokens, row, "q"), key: named(keys, column, "k"), weight: exact(weights.at(i, j)) });
  return put(readout, strings[state === "partly" ? "readout_square_partly" : "readout_square"], parts);
}

/** Where the segments of a pair begin and end, as [segment, start, end]. */
function runs(words) {
  const found = [];
  words.forEach(({ segment = 0 }, i) => {
    if (found.length === 0 || found.at(-1)[0] !== segment) found.push([segment, i, i + 1]);
    else found.at(-1)[2] = i + 1;
  });
  return found;
}

/**
 * Letters beside the rows and above the columns of a pair's two texts, and lines between them, as nodes; nothing for a
 * single text. place: { label, top, cell, cellColumn? } in pixels, a cell being one position.
 */
export function segments({ tokens, keys, isPair }, { label, top, cell, cellColumn = cell }) {
  if (!isPair) return [];
  const px = (value) => `${value}px`;
  const [width, height] = [keys.length * cellColumn, tokens.length * cell];
  const name = (segment) => (segment ? "B" : "A");
  const rows = runs(tokens).flatMap(([segment, start, end]) => [
    el("span", { class: "segment row", text: name(segment), style: { left: "0", top: px(top + start * cell), height: px((end - start) * cell) } }),
    start > 0 ? el("span", { class: "cut", style: { left: px(label), top: px(top + start * cell), width: px(width), height: "0" } }) : null,
  ]);
  const columns = runs(keys).flatMap(([segment, start, end]) => [
    el("span", { class: "segment column", text: name(segment), style: { top: "0", left: px(label + start * cellColumn), width: px((end - start) * cellColumn) } }),
    start > 0 ? el("span", { class: "cut", style: { top: px(top), left: px(label + start * cellColumn), height: px(height), width: "0" } }) : null,
  ]);
  return [...rows, ...columns].filter(Boolean);
}

/** Where an arrow, Home, End or a page key leads from a cell of a grid; null where it leads nowhere. */
export function stepFrom([row, column], key, { rows, cols }) {
  const to = {
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: [row, 0], End: [row, cols - 1], PageUp: [0, column], PageDown: [rows - 1, column],
  }[key];
  return to && to[0] >= 0 && to[1] >= 0 && to[0] < rows && to[1] < cols ? to : null;
}
