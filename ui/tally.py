"""Counting hands: four options, buttons and keys, bars. Kept for the visit, stored nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape

import streamlit as st

from ui import selection
from ui.scenes import books, texts
from ui.selection import KEPT
from ui.translations import Words

LETTERS = "ABCD"
LESSONS = "lessons"
FREE = "free"  # A question that the teacher asks aloud.
_HANDS = "_hands"


def counts() -> Mapping[str, int]:
    """Hands by letter."""
    return selection.peek(_HANDS) or dict.fromkeys(LETTERS, 0)


def raise_hand(letter: str, by: int) -> None:
    """One more, or one less, but never fewer than none."""
    now = counts()
    selection.mark(_HANDS, {**now, letter: max(0, now[letter] + by)})


def reset() -> None:
    selection.mark(_HANDS, dict.fromkeys(LETTERS, 0))


def ask(lesson: str) -> None:
    """Put that lesson's question before the class, and begin to count anew."""
    selection.mark("hands_question", lesson)
    reset()


def show(words: Words) -> None:
    """The question, the buttons, the bars, and what they say."""
    options = _question(words)
    st.caption(words("classroom.hands_keys"))
    now = counts()
    for number, letter in enumerate(LETTERS, 1):
        with st.container(horizontal=True, vertical_alignment="center", key=f"hands_{letter}"):
            _button(f"{letter} +", letter, 1, str(number), words)
            _button(f"{letter} −", letter, -1, f"shift+{number}", words)
            st.html(_bar(letter, options.get(letter, ""), now))
    st.button(words("classroom.hands_reset"), key="hands_reset", on_click=reset)
    st.markdown(_said(now, words))


def _question(words: Words) -> dict[str, str]:
    """The chosen question, and its options by letter."""
    lessons = {scene.id: scene for scene in books.scenes(LESSONS) if scene.options}
    said = {name: texts.of_scene(LESSONS, name, words.language) for name in lessons}
    if selection.peek("hands_question") is None:
        selection.mark("hands_question", FREE)
    selection.relabel("hands_question", words.language)
    chosen = st.selectbox(
        words("classroom.hands_question"),
        [FREE, *lessons],
        key="hands_question",
        format_func=lambda name: words("classroom.hands_free") if name == FREE else said[name]("title"),
        persist_state=KEPT,
    )
    if chosen == FREE:
        return {}
    st.markdown(f"### {said[chosen]('predict')}")
    return dict(zip(LETTERS, [said[chosen](f"option_{name}") for name in lessons[chosen].options], strict=False))


def _button(label: str, letter: str, by: int, key: str, words: Words) -> None:
    told = words("classroom.hands_more" if by > 0 else "classroom.hands_fewer", letter=letter)
    name = f"hands_{letter}_{'more' if by > 0 else 'fewer'}"
    st.button(label, key=name, help=told, shortcut=key, on_click=partial(raise_hand, letter, by))


def _bar(letter: str, option: str, now: Mapping[str, int]) -> str:
    share = now[letter] / max(1, *now.values())
    label = f"{letter} · {option}" if option else letter
    return (
        f'<div class="hands"><div class="hands-label"><span>{escape(label)}</span><b>{now[letter]}</b></div>'
        f'<div class="hands-track"><div class="hands-bar" style="width:{share:.1%}"></div></div></div>'
    )


def _said(now: Mapping[str, int], words: Words) -> str:
    total, most = sum(now.values()), max(now.values())
    first = [letter for letter in LETTERS if now[letter] == most]
    if not total:
        return words("classroom.hands_none")
    letters = words("notes.join").join(first)
    if len(first) == 1:
        return words("classroom.hands_first", letter=letters, most=most, total=total)
    return words("classroom.hands_even", letters=letters, most=most, total=total)
