// What is chosen and what is looked at. A choice is { token, key }: the word in question and its partner. With the
// direction "asks" the token is a row and the key a column; with "answers" the token is a column and the key a row.

const largest = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

export const cellOf = (direction, { token, key }) => (direction === "asks" ? [token, key] : [key, token]);

export const choiceAt = (direction, row, column) =>
  direction === "asks" ? { token: row, key: column } : { token: column, key: row };

/** The words of the chosen side, and those of their partners. */
export const sides = (frame) => {
  const keys = frame.keys ?? frame.tokens;
  return frame.direction === "asks" ? [frame.tokens, keys] : [keys, frame.tokens];
};

/** What the token gives to each partner, or gets from each. */
export function weightsAround(frame, token) {
  const { weights } = frame.arrays;
  return Array.from(frame.direction === "asks" ? weights.row(token) : weights.column(token));
}

export const hasKeys = (frame, row) => !frame.arrays.has_keys || frame.arrays.has_keys.data[row] === 1;
export const isAllowed = (frame, row, column) => !frame.arrays.allowed || frame.arrays.allowed.at(row, column) === 1;

/** The strongest partner of a token; null where it has none. */
export function strongest(frame, token) {
  if (frame.direction === "asks" && !hasKeys(frame, token)) return null;
  const values = weightsAround(frame, token);
  const best = largest(values);
  return values[best] > 0 ? best : null;
}

/** Which cell the bill in this frame belongs to, as a choice. */
export const billChoice = (frame) => (frame.bill ? choiceAt(frame.direction, frame.bill.query, frame.bill.key) : null);

export const same = (one, other) => one?.token === other?.token && one?.key === other?.key;

/** { token, key }, with the partner filled in that an open choice stands for. */
export function completed(frame, choice) {
  if (choice.token === null || choice.key !== null) return choice;
  if (frame.direction === "asks" && !hasKeys(frame, choice.token)) return choice;
  const bill = billChoice(frame);
  return { token: choice.token, key: bill?.token === choice.token ? bill.key : strongest(frame, choice.token) };
}

const signature = (frame) => JSON.stringify([frame.model, frame.layer, frame.head, frame.direction, frame.tokens.map((t) => t.shown)]);
const PATIENCE = 2000;

/**
 * The choice after a new frame: the server's, unless the frame still answers an earlier click than the last one
 * (the picture answered that click at once; it must not jump back and forth).
 */
export function settled(picture, frame) {
  const told = { token: frame.token, key: frame.key };
  const { pending } = picture;
  if (pending === null) return { locked: told, pending };
  const answered = told.token === pending.token && (pending.key === null || told.key === pending.key);
  const late = Date.now() - pending.at > PATIENCE;
  if (answered || late || signature(frame) !== signature(picture.frame)) return { locked: told, pending: null };
  return { locked: picture.locked, pending };
}
