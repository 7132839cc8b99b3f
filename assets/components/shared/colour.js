// Two fixed scales. Weights: light to indigo, 0 to 1, shaded by the square root so that small weights stay visible.
// Signed values: purple, neutral at zero, orange. Both are re-tuned for the dark theme.

const WEIGHTS = {
  light: [[246, 247, 252], [196, 201, 228], [120, 128, 178], [63, 70, 130], [26, 33, 92]],
  dark: [[30, 34, 48], [54, 62, 104], [92, 104, 176], [146, 160, 232], [214, 222, 255]],
};
const SIGNED = {
  light: [[94, 52, 148], [170, 148, 206], [247, 247, 250], [226, 172, 116], [176, 88, 6]],
  dark: [[190, 150, 246], [108, 82, 156], [30, 34, 48], [150, 92, 36], [250, 172, 92]],
};

function mix(stops, t) {
  const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  return stops[low].map((c, k) => Math.round(c + (stops[low + 1][k] - c) * (place - low)));
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const css = (rgb) => `rgb(${rgb.join(",")})`;

function painted(rgb) {
  // Black or white, whichever stands out more (WCAG contrast).
  const light = luminance(rgb);
  const ink = (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
  return { fill: css(rgb), ink };
}

/** A weight in [0, 1] → { fill, ink }; the same weight is the same colour wherever it stands. */
export function weightColour(weight, theme) {
  // Own arrays may hold a weight below 0: it is written as it is and painted as nothing.
  return painted(mix(WEIGHTS[theme], Math.sqrt(Math.max(weight, 0))));
}

/** A signed value on a scale from −reach to +reach → { fill, ink }. */
export function signedColour(value, reach, theme) {
  const t = reach > 0 ? value / reach : 0;
  return painted(mix(SIGNED[theme], (Math.min(Math.max(t, -1), 1) + 1) / 2));
}

const CHIPS = {
  key: { light: [[245, 246, 250], [250, 214, 186], [236, 154, 92], [213, 94, 0]], dark: [[29, 33, 48], [84, 56, 44], [160, 96, 54], [240, 135, 63]] },
  query: { light: [[245, 246, 250], [196, 222, 240], [98, 168, 212], [0, 114, 178]], dark: [[29, 33, 48], [40, 72, 98], [60, 122, 162], [92, 184, 238]] },
};

/** The shade of a word that answers ("key") or asks ("query") with this weight → { fill, ink }. */
export function chipColour(weight, theme, role) {
  return painted(mix(CHIPS[role][theme], weight));
}

/** The colours of a legend from left to right, for a CSS gradient. */
export function weightGradient(theme, stops = 12) {
  return Array.from({ length: stops + 1 }, (_, i) => css(mix(WEIGHTS[theme], Math.sqrt(i / stops)))).join(",");
}

export function signedGradient(theme) {
  return SIGNED[theme].map(css).join(",");
}

/** A colour of a style sheet as the four bytes of a pixel, in one number. */
export function pixel(colour) {
  const hex = /^#(..)(..)(..)$/.exec(colour);
  const [r, g, b] = hex ? hex.slice(1).map((part) => parseInt(part, 16)) : colour.match(/\d+/g).map(Number);
  return (255 << 24) | (b << 16) | (g << 8) | r;
}
