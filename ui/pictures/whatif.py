"""The frame of What if: one head in two runs of the same text, word by word, and what that says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import attention_core as ac
from attention_core.change import Change, change
from attention_core.edits import EMPTY
from ui import edit_texts
from ui.frame import pack
from ui.pictures import parts
from ui.pictures.answers import named, question
from ui.pictures.notice import notice
from ui.selection import Selection
from ui.translations import Words

SAME = 1e-12  # Weights that differ by less are the same sums in another order.
UNSEEN = 5e-4  # Shares that differ by less read alike.
CHECKED = {"plain-forward": "whatif.check", "model-output": "whatif.check_real"}


def frame(before: ac.Trace, after: ac.Trace, selection: Selection, words: Words) -> bytes:
    first, second = (parts.layer_of(trace, selection).head(selection.head) for trace in (before, after))
    found = change(first, second, after.edits)
    asker = asker_of(found, selection)
    header = {
        **parts.place(before, selection),
        "strings": parts.strings(before, words, words.section("whatif")),
        "tokens": parts.tokens(before),
        "asker": asker,
        "order": list(after.edits.ordered(range(len(before.tokens)))),
        "silenced": sorted(after.edits.silenced),
        "cut": sorted(edge[2:] for edge in after.edits.cut if _is_here(edge, selection)),
        "changes": [_named_piece(piece, before, words) for piece in edit_texts.pieces(after.edits)],
        "verdict": verdict(before, after, found, asker, words),
        "answers": [_pair(before, after, token, words) for token in range(len(before.tokens))],
        "check": _check(after, words),
        "notice": notice(before, words),
    }
    return pack(header, _arrays(found))


def asker_of(found: Change, selection: Selection) -> int:
    """The chosen word; where none is, the one whose row changes most."""
    chosen = selection.token
    return int(np.abs(found.difference).max(axis=1).argmax()) if chosen is None else chosen


def verdict(before: ac.Trace, after: ac.Trace, found: Change, asker: int, words: Words) -> list[str]:
    """What the numbers say, in sentences."""
    if after.edits.is_empty:
        return [words("whatif.nothing_yet", unit=parts.units(before, words)[0])]
    is_same = found.largest <= SAME
    row = [words("whatif.same_head", difference=parts.scientific(found.largest))] if is_same else []
    if not is_same:
        row = _row(before, found, asker, words)
    return [*row, *_answers(before, after, asker, words)]


def _row(before: ac.Trace, found: Change, asker: int, words: Words) -> list[str]:
    old, new = found.before.weights[asker], found.after.weights[asker]
    name = called(before, asker)
    if not found.after.has_keys[asker]:
        return [words("whatif.no_keys", asker=name)]
    key, top = int(old.argmax()), int(new.argmax())
    kind = "weight_same" if abs(new[key] - old[key]) < UNSEEN else "weight"
    facts = {"asker": name, "key": called(before, key), "before": percent(old[key]), "after": percent(new[key])}
    said = [words("whatif.weight_same", **facts) if kind == "weight_same" else words("whatif.weight", **facts)]
    if top != key:
        said.append(words("whatif.top", key=called(before, top), before=percent(old[top]), after=percent(new[top])))
    return said


def _answers(before: ac.Trace, after: ac.Trace, asker: int, words: Words) -> list[str]:
    pairs = [_pair(before, after, token, words) for token in range(len(before.tokens))]
    here, known = pairs[asker], [pair for pair in pairs if pair is not None]
    if not known:
        return []
    said = []
    if here is not None:
        facts = {"before": here["before"], "share": percent(here["share"]), "after": here["after"]}
        facts |= {"share_after": percent(here["share_after"])}
        asked = here["question"]
        if here["before"] == here["after"]:
            facts.pop("after")
            said.append(
                words("whatif.answer_kept", **facts)
                if asked is None
                else words("whatif.asked_kept", question=asked, **facts)
            )
        else:
            said.append(
                words("whatif.answer_changed", **facts)
                if asked is None
                else words("whatif.asked_changed", question=asked, **facts)
            )
    moved = sum(pair["before"] != pair["after"] for pair in known)
    said.append(words("whatif.answers_moved", n=moved, total=len(known), unit=parts.units(before, words)[0]))
    return said


def _pair(before: ac.Trace, after: ac.Trace, token: int, words: Words) -> dict[str, Any] | None:
    """What the model answers at this token in both runs."""
    place = after.edits.place(token)
    if not before.predictions or not before.predictions[token] or not after.predictions:
        return None
    old, new = before.predictions[token][0], after.predictions[place][0]
    return {
        "before": named(before, token, old.word, words),
        "share": old.probability,
        "after": named(before, token, new.word, words),
        "share_after": new.probability,
        "question": question(before, token, words),
    }


def _arrays(found: Change) -> dict[str, np.ndarray]:
    arrays = {"difference": found.difference}
    for name, side in (("before", found.before), ("after", found.after)):
        arrays |= {
            name: side.weights,
            f"allowed_{name}": side.allowed,
            f"has_keys_{name}": side.has_keys,
            f"entropy_{name}": side.entropy,
            f"row_sum_{name}": side.row_sum,
        }
    return arrays


def _is_here(edge: tuple[int, int | None, int, int], selection: Selection) -> bool:
    return edge[0] == selection.layer and edge[1] in (None, selection.head)


def _named_piece(piece: str, trace: ac.Trace, words: Words) -> dict[str, str]:
    """One edit in the reader's words, with the piece that names it."""
    one, _ = edit_texts.read(piece)
    units = parts.units(trace, words)[1]
    if one.silenced:
        text = words("whatif.piece_silenced", word=called(trace, *one.silenced))
    elif one.cut:
        ((layer, head, query, key),) = one.cut
        place = {"query": called(trace, query), "key": called(trace, key), "layer": layer}
        text = words("whatif.piece_cut_all", **place) if head is None else words("whatif.piece_cut", head=head, **place)
    elif one.order is not None:
        seed = edit_texts.seed_of(one.order, [token.is_special for token in trace.tokens])
        text = (
            words("whatif.piece_moved", units=units)
            if seed is None
            else words("whatif.piece_shuffled", units=units, seed=seed)
        )
    elif one.temperature != EMPTY.temperature:
        text = words("whatif.piece_temperature", temperature=f"{one.temperature:g}")
    elif one.layer is not None:
        text = words("whatif.piece_layer", layer=one.layer)
    else:
        text = words(f"whatif.flag_{piece}")
    return {"piece": piece, "text": text}


def _check(after: ac.Trace, words: Words) -> dict[str, Any]:
    checked = parts.checked(after)
    difference = parts.scientific(checked.largest_difference)
    return {
        "passed": checked.passed,
        "sentence": words(CHECKED[checked.reference], difference=difference, rows=checked.n_rows),
    }


def called(trace: ac.Trace, token: int) -> str:
    """A word by name, with its position where the sentence has it twice."""
    text = trace.tokens[token].shown
    twice = sum(other.shown == text for other in trace.tokens) > 1
    return f"{text}{str(token).translate(str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉'))}" if twice else text


def percent(share: float) -> str:
    """0.9105 → "91.1%"; what is not zero never reads as zero."""
    if 0 < share < UNSEEN:
        return "<0.1%"
    return f"{math.floor(share * 1000 + 0.5) / 10:.1f}%"
