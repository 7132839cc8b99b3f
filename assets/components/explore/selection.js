// What is chosen and what is looked at. A choice is { token, key }: the word in question and its partner. With the
// direction "asks" the token is a row and the key a column; with "answers" the token is a column and the key a row.
//
// A head too large to draw cell by cell (frame.square) comes as squares, with the row or column of the chosen token in
// full (arrays.line): of other tokens no exact weight is known here, and `null` says so.

const largest = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

export const cellOf = (direction, { token, key }) => (direction === "asks" ? [token, key] : [key, token]);

export const choiceAt = (direction, row, column) =>
  direction === "asks" ? { token: row, key: column } : { token: column, key: row };

/** The words of the chosen side, and those of their partners. */
export const sides = (frame) => {
  const keys = frame.keys ?? frame.tokens;
  return frame.direction === "asks" ? [frame.tokens, keys] : [keys, frame.tokens];
};

const isKnown = (frame, token) => frame.square === null || (frame.arrays.line !== undefined && token === frame.token);

/** What the token gives to each partner, or gets from each; null where that was not sent. */
export function weightsAround(frame, token) {
  if (!isKnown(frame, token)) return null;
  const { weights, line } = frame.arrays;
  if (frame.square !== null) return line.data;
  return frame.direction === "asks" ? weights.row(token) : weights.column(token);
}

export const hasKeys = (frame, row) => !frame.arrays.has_keys || frame.arrays.has_keys.data[row] === 1;

/** What the cell is: "open", "masked", "hidden" (left out of this view), "nokeys"; "open" too where it is not known. */
export function stateAt(frame, row, column) {
  if (!hasKeys(frame, row)) return "nokeys";
  const { allowed, hidden, line_allowed: lineAllowed, line_hidden: lineHidden } = frame.arrays;
  if (frame.square !== null) {
    const { token, key } = choiceAt(frame.direction, row, column);
    if (!isKnown(frame, token)) return "open";
    if (!lineAllowed.data[key]) return "masked";
    return lineHidden.data[key] ? "hidden" : "open";
  }
  if (allowed && !allowed.at(row, column)) return "masked";
  return hidden?.at(row, column) ? "hidden" : "open";
}

/** The weight of a cell, of one that is left out too; null where it is not known. */
export function weightAt(frame, row, column) {
  if (column === frame.left_out) return frame.arrays.removed.data[row];
  const { token, key } = choiceAt(frame.direction, row, column);
  return frame.square === null ? frame.arrays.weights.at(row, column) : weightsAround(frame, token)?.[key] ?? null;
}

/** The weights around a token as they are drawn: 0 where a cell is left out of this view. */
export function drawnAround(frame, token) {
  const values = weightsAround(frame, token);
  if (values === null || (!frame.arrays.hidden && !frame.arrays.line_hidden)) return values;
  return Array.from(values, (weight, key) => (stateAt(frame, ...cellOf(frame.direction, { token, key })) === "hidden" ? 0 : weight));
}

/** The strongest partner of a token; null where it has none, or where its weights are not known. */
export function strongest(frame, token) {
  if (frame.direction === "asks" && !hasKeys(frame, token)) return null;
  const values = drawnAround(frame, token);
  if (values === null) return null;
  const best = largest(values);
  return values[best] > 0 ? best : null;
}

/** Which cell the bill (or what stands in its place) belongs to, as a choice. */
export function billChoice(frame) {
  const told = frame.bill ?? frame.pieces;
  return told ? choiceAt(frame.direction, told.query, told.key) : null;
}

export const same = (one, other) => one?.token === other?.token && one?.key === other?.key;

/** { token, key }, with the partner filled in that an open choice stands for. */
export function completed(frame, choice) {
  if (choice.token === null || choice.key !== null) return choice;
  if (frame.direction === "asks" && !hasKeys(frame, choice.token)) return choice;
  const told = billChoice(frame);
  return { token: choice.token, key: told?.token === choice.token ? told.key : strongest(frame, choice.token) };
}

/** A choice as the server counts it: a whole word stands for its first token. */
export function told(frame, { token, key }) {
  const [own, others] = sides(frame);
  const at = (words, position) => (position === null ? null : words[position].at ?? position);
  return { token: at(own, token), key: at(others, key) };
}

const signature = (frame) =>
  JSON.stringify([frame.model, frame.layer, frame.head, frame.direction, frame.tokens.map((t) => t.shown), frame.keys?.map((t) => t.shown)]);
const PATIENCE = 2000;

/**
 * The choice after a new frame: the server's, unless the frame still answers an earlier click than the last one
 * (the picture answered that click at once; it must not jump back and forth).
 */
export function settled(picture, frame) {
  const said = { token: frame.token, key: frame.key };
  const { pending } = picture;
  if (pending === null) return { locked: said, pending };
  const answered = said.token === pending.token && (pending.key === null || said.key === pending.key);
  const late = Date.now() - pending.at > PATIENCE;
  if (answered || late || signature(frame) !== signature(picture.frame)) return { locked: said, pending: null };
  return { locked: picture.locked, pending };
}
