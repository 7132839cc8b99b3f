// Colours as tables of pixels, so that a whole matrix is painted at once: a film runs past at sixty frames a second.

import { signedColour, weightColour } from "../shared/colour.js";

const STOPS = 512;
const tables = new Map();

function pixel(fill) {
  const [r, g, b] = fill.match(/\d+/g).map(Number);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function table(name, colour) {
  if (!tables.has(name)) tables.set(name, Uint32Array.from({ length: STOPS + 1 }, (_, i) => pixel(colour(i / STOPS).fill)));
  return tables.get(name);
}

/** weight in [0, 1] → pixel: the same square-root shading as everywhere. */
export function weightShade(theme) {
  const pixels = table(`weights ${theme}`, (t) => weightColour(t * t, theme));
  return (weight) => pixels[Math.round(Math.sqrt(Math.min(Math.max(weight, 0), 1)) * STOPS)];
}

/** value in [−reach, reach] → pixel. */
export function signedShade(reach, theme) {
  const pixels = table(`signed ${theme}`, (t) => signedColour(2 * t - 1, 1, theme));
  const scale = reach > 0 ? STOPS / (2 * reach) : 0;
  return (value) => pixels[Math.round(Math.min(Math.max(value * scale + STOPS / 2, 0), STOPS))];
}
