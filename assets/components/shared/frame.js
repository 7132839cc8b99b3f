// One frame of data from Python (ui/frame.py): a JSON header, then the arrays, each on an 8-byte boundary.
//   [uint32 header bytes, little endian][header JSON, padded with spaces][array bytes …]
// Booleans travel as bits, eight to a byte, the first one lowest; here each is a byte again, 0 or 1.

const VIEWS = { f8: Float64Array, f4: Float32Array, u1: Uint8Array };

/** A matrix in row-major order; vectors have one row. */
export class Matrix {
  constructor(data, rows, cols) {
    this.data = data;
    this.rows = rows;
    this.cols = cols;
  }

  at(i, j) {
    return this.data[i * this.cols + j];
  }

  row(i) {
    return this.data.subarray(i * this.cols, (i + 1) * this.cols);
  }

  column(j) {
    return Array.from({ length: this.rows }, (_, i) => this.at(i, j));
  }
}

function bits(bytes, size) {
  const flags = new Uint8Array(size);
  for (let i = 0; i < size; i += 1) flags[i] = (bytes[i >> 3] >> (i & 7)) & 1;
  return flags;
}

const viewOf = (copy, dtype, start, size) =>
  dtype === "b1" ? bits(new Uint8Array(copy, start, Math.ceil(size / 8)), size) : new VIEWS[dtype](copy, start, size);

/** Bytes → { …header, arrays: { name: Matrix } }. */
export function unpack(bytes) {
  // The bytes may start anywhere in their buffer; a copy starts at 0, so that typed views are aligned.
  const copy = new Uint8Array(bytes).buffer;
  const length = new DataView(copy).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(copy, 4, length)));
  const start = 4 + length;
  const arrays = {};
  for (const { name, dtype, shape, offset } of header.arrays) {
    const size = shape.reduce((a, b) => a * b, 1);
    const cols = shape[shape.length - 1];
    const rows = shape.length === 1 ? 1 : shape[0];
    arrays[name] = new Matrix(viewOf(copy, dtype, start + offset, size), rows, cols);
  }
  return { ...header, arrays };
}
