"""The frame of the Explore picture: one head's weights, the chosen cell's bill, the answers and the check."""

from __future__ import annotations

from typing import Any

import attention_core as ac
from ui import examples
from ui.frame import pack
from ui.pictures import parts
from ui.pictures.answers import answers, named, readout_at
from ui.pictures.notice import notice
from ui.selection import Selection
from ui.translations import Words


def frame(trace: ac.Trace, selection: Selection, words: Words) -> bytes:
    head = parts.head_of(trace, selection)
    header = {
        **parts.place(trace, selection),
        "strings": parts.strings(trace, words, words.section("explore")),
        "tokens": parts.tokens(trace),
        "keys": None,
        "token": selection.token,
        "key": selection.key,
        "direction": selection.look,
        "answers": answers(trace, words),
        "answer_sum": _answer_sum(trace, selection.token, words),
        "bill": _bill(head, parts.cell(head, selection)),
        "check": parts.check_sentence(trace, words),
        "hint": _hint(trace.text, words),
        "notice": notice(trace, words),
    }
    return pack(header, {"weights": head.weights, **parts.masks(head)})


def _bill(head: ac.HeadSteps, cell: tuple[int, int] | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    bill = head.explain(*cell)
    is_seen = bill.is_allowed and bool(head.has_keys[bill.query])
    return {
        "query": bill.query,
        "key": bill.key,
        "q": head.q[bill.query].tolist(),
        "k": head.k[bill.key].tolist(),
        "products": bill.products.tolist(),
        "score": bill.score,
        "scale": head.scale,
        "scaled": bill.scaled,
        "bias": bill.bias,
        "row_max": bill.row_max if head.has_keys[bill.query] else 0.0,
        "exp": bill.exp,
        "row_sum": bill.row_sum,
        "weight": bill.weight,
        "v": head.v[bill.key].tolist(),
        "weighted_value": bill.weighted_value.tolist(),
        "d_head": head.q.shape[1],
        "allowed": is_seen,
    }


def _answer_sum(trace: ac.Trace, token: int | None, words: Words) -> dict[str, Any] | None:
    if token is None or trace.predictions is None or not trace.predictions[token]:
        return None
    total, facts = trace.explain_answer(token), readout_at(trace, token)
    last = trace.card.n_layers - 1 if facts is None else facts["after"]
    return {
        "token": total.token,
        "word": named(trace, token, total.word, words),
        "logit": total.logit,
        "probability": total.probability,
        "log_sum_exp": total.log_sum_exp,
        "parts": [_part(part, last) for part in total.parts],
    }


def _part(part: ac.LogitPart, last: int) -> dict[str, Any]:
    """One part of the sum; `last` is the layer after which the answer is read."""
    return {
        "part": part.kind,
        "layer": part.layer,
        "logit": part.logit,
        "reads": part.is_read,
        "is_later": part.layer is not None and part.layer > last,
        "words": [
            {"token": term.key, "head": term.head, "weight": term.weight, "logit": term.logit} for term in part.terms
        ],
    }


def _hint(text: str, words: Words) -> str | None:
    example, flip = examples.of_text(text), examples.flip_of(text)
    if example is None or flip is None:
        return None
    return words("explore.hint", old=example.changed, new=flip.changed)
