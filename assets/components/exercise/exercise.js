// Write it yourself: given are Q, K and V; the reader fills in stage after stage. What was typed is judged in Python
// when the reader asks for it; hints and answers are worked out here. Nothing is kept beyond this visit.
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";
import { Sheet } from "./sheet.js";

const sheets = new WeakMap();
const SHEETS = ["exercise/exercise.css"];

export default function draw({ data, parentElement, setTriggerValue }) {
  const mount = mounted(parentElement, SHEETS);
  if (!sheets.has(parentElement)) sheets.set(parentElement, new Sheet(mount.view));
  const sheet = sheets.get(parentElement);
  const frame = unpack(data);
  sheet.trigger = setTriggerValue;
  sheet.latest = frame;
  mount.ready.then(() => sheet.latest === frame && sheet.show(frame, mount.theme));
  return () => (sheet.trigger = null);
}
