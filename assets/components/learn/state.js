// One line that says how a run is doing, and whether the pattern has appeared. Nothing is said that the frames do not show.

import { phrase } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";

function waiting({ ahead }, strings) {
  if (ahead === 0) return strings.state_queued_next;
  return ahead === 1 ? strings.state_queued_one : phrase(strings.state_queued, { ahead });
}

function stopped(film, strings, step) {
  if (film.reason) return phrase(strings.state_stopped_reason, { step, reason: film.reason });
  if (film.stopAsked) return phrase(strings.state_stopped_asked, { step });
  return phrase(strings[film.stoppedByOther ? "state_stopped_other" : "state_stopped"], { step });
}

/** film: null where the run was not asked for. */
export function stateLine(film, { strings, steps }) {
  if (film === null) return strings.press_train;
  if (film.lost) return strings.state_lost;
  const step = film.newest?.step ?? 0;
  return {
    asking: () => strings.state_asking,
    queued: () => waiting(film, strings),
    running: () => (film.newest ? phrase(strings.state_running, { step, steps }) : strings.state_starting),
    finished: () => phrase(strings.state_finished, { step }),
    stopped: () => stopped(film, strings, step),
    failed: () => phrase(strings.state_failed, { reason: film.reason || strings.reason_unknown }),
    gone: () => strings[film.newest ? "state_gone_kept" : "state_gone"],
  }[film.state]?.() ?? strings.state_asking;
}

/** The kind of line, for its colour and for the tests. */
export function stateKind(film) {
  if (film === null) return "none";
  return film.lost ? "lost" : film.state;
}

export function patternLine(film, strings) {
  if (film === null || film.highest === null) return "";
  if (film.moment !== null) return phrase(strings.pattern_appears, { step: film.moment.step });
  const highest = fixed(film.highest, 2);
  const parts = { highest, step: film.newest.step };
  return phrase(strings[film.active ? "pattern_not_yet" : film.state === "finished" ? "pattern_never" : "pattern_not_by"], parts);
}
