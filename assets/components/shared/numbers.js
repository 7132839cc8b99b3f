// How numbers are written. They come from the arrays and are rounded only here, on the way to the screen.

const MINUS = "\u2212";
const signed = (text) => (/^-0(\.0*)?%?$/.test(text) ? text.slice(1) : text.replace("-", MINUS));

/** 0.9105 → "91.1%"; what is not zero never reads as zero. */
export function percent(weight, digits = 1) {
  const least = 10 ** -(digits + 2);
  if (weight > 0 && weight < least / 2) return `<${(least * 100).toFixed(digits)}%`;
  return signed(`${(weight * 100).toFixed(digits)}%`);
}

export function fixed(value, digits = 1) {
  if (value === -Infinity) return `${MINUS}∞`;
  return signed(value.toFixed(digits));
}

/** What hover shows as the exact value: twelve significant digits; of a float32, those that tell it from its neighbours. */
export function exact(value) {
  if (value === -Infinity) return `${MINUS}∞`;
  const isSingle = Math.fround(value) === value;
  const digits = isSingle ? [6, 7, 8, 9].find((most) => Math.fround(Number(value.toPrecision(most))) === value) : 12;
  return signed(String(Number(value.toPrecision(digits))));
}

/** 2.2e-16 → "2.2·10⁻¹⁶" */
export function scientific(value) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(1).split("e");
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const raised = [...String(Number(exponent))].map((c) => (c === "-" ? "⁻" : digits[Number(c)])).join("");
  return `${signed(mantissa)}·10${raised}`;
}
