// The bench: small matrices that the reader changes, and everything that follows from them, computed here.
// The server is told what lies on the bench when a change is done; meanwhile nothing leaves the browser.
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";
import { Desk } from "./desk.js";

const desks = new WeakMap();
const SHEETS = ["shared/matrix.css", "bench/bench.css", "bench/plane.css"];

export default function draw({ data, parentElement, setTriggerValue }) {
  const mount = mounted(parentElement, SHEETS);
  if (!desks.has(parentElement)) desks.set(parentElement, new Desk(mount.view));
  const desk = desks.get(parentElement);
  const frame = unpack(data);
  desk.arrive(setTriggerValue);
  // Of several frames that arrive before the style sheets, only the last is drawn.
  desk.latest = frame;
  mount.ready.then(() => desk.latest === frame && desk.show(frame, mount.theme));
  return () => desk.leave();
}
