// What the two sentences have in common: pairs of positions, made by the server.

const shownAt = (side, position) => (position === null ? null : side.tokens[position]);

/** Does the pair hold two different words, or only one? */
export function isChanged(sides, [a, b]) {
  return shownAt(sides[0], a)?.shown !== shownAt(sides[1], b)?.shown;
}

/** The one word of each sentence that differs, as positions, or null where more or fewer do. */
export function onlyChange(sides, pairs) {
  const changed = pairs.filter((pair) => isChanged(sides, pair));
  const a = changed.map(([i]) => i).filter((i) => i !== null);
  const b = changed.map(([, i]) => i).filter((i) => i !== null);
  return a.length === 1 && b.length === 1 ? [a[0], b[0]] : null;
}

export const strongest = (row) => Array.from(row).reduce((best, value, i, all) => (value > all[best] ? i : best), 0);
