// Levels to pixels. A level is what attention_core/overview.py says: 0 may not be seen, 1 a row without keys,
// from 2 on a weight. Where a point of the screen covers several levels it shows the largest, which is right for all.

import { weightColour } from "../shared/colour.js";

const [NO_KEYS, LEAST, HIGHEST] = [1, 2, 255];
const ROOMY = 12; // Pixels from which a cell has room for a gap to the next one.

const weightOf = (level) => ((level - LEAST) / (HIGHEST - LEAST)) ** 2;

/** "rgb(r,g,b)" or "#rrggbb" as one pixel of an image. */
function packed(colour) {
  const parts = colour.startsWith("#") ? colour.match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16)) : colour.match(/\d+/g).map(Number);
  return new Uint32Array(new Uint8ClampedArray([...parts.slice(0, 3), 255]).buffer)[0];
}

/** The colours of all levels as pixels: { of: Uint32Array(256), line } for one theme; `line` is that of the hatching. */
export function palette(theme, line) {
  const of = new Uint32Array(HIGHEST + 1);
  for (let level = LEAST; level <= HIGHEST; level += 1) of[level] = packed(weightColour(weightOf(level), theme).fill);
  return { of, line: packed(line) };
}

/** For each of `size` pixels the levels that it covers, [from, to), and whether it is a gap between two cells. */
function spans(n, size, scale) {
  const roomy = size / n >= ROOMY * scale;
  const spanAt = (x) => [Math.floor((x * n) / size), Math.max(Math.ceil(((x + 1) * n) / size), 1)];
  return Array.from({ length: size }, (_, x) => {
    const [from, end] = spanAt(x);
    const to = size >= n ? from + 1 : end;
    const gap = roomy && x + scale < size && Math.floor(((x + scale) * n) / size) > from;
    return { from, to, gap };
  });
}

function largest({ levels, start, columns }, down, across) {
  let most = 0;
  for (let i = down.from; i < down.to; i += 1) {
    for (let j = across.from; j < across.to; j += 1) most = Math.max(most, levels[start + i * columns + j]);
  }
  return most;
}

/**
 * Paint pictures of one size into an image: put({ levels, start, rows, columns }, left, top) for each of them.
 * Hatched as in shared/heatmap.css: one way where a key may not be seen, the other way where there are no keys.
 */
export function brush(image, { rows, columns }, { width, height }, colours, scale) {
  const pixels = new Uint32Array(image.data.buffer);
  const [downs, acrosses] = [spans(rows, height, scale), spans(columns, width, scale)];
  const period = Math.round(5 * scale);
  const thick = Math.max(1, Math.round(1.2 * scale));
  const hatch = (x, y) => (((x % period) + period) % period < thick ? colours.line : 0);
  return (picture, left, top) => {
    downs.forEach((down, y) => {
      const line = (top + y) * image.width + left;
      acrosses.forEach((across, x) => {
        const level = largest(picture, down, across);
        if (level < LEAST) pixels[line + x] = level === NO_KEYS ? hatch(x - y) : hatch(x + y);
        else if (!down.gap && !across.gap) pixels[line + x] = colours.of[level];
      });
    });
  };
}
