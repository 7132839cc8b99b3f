// The Steps page's picture: the walk through one head in four steps. The whole head arrives once, in one frame;
// everything after that happens here.
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";
import { Walk } from "./walk.js";

const walks = new WeakMap();
const SHEETS = ["shared/matrix.css", "steps/steps.css"];

export default function draw({ data, parentElement, setTriggerValue }) {
  const mount = mounted(parentElement, SHEETS);
  if (!walks.has(parentElement)) walks.set(parentElement, new Walk(mount.view));
  const walk = walks.get(parentElement);
  const frame = unpack(data);
  walk.arrive(setTriggerValue);
  // Of several frames that arrive before the style sheets, only the last is drawn.
  walk.latest = frame;
  mount.ready.then(() => walk.latest === frame && walk.show(frame, mount.theme));
  return () => walk.leave();
}
