"""What the reader has chosen: the only module that touches st.session_state.

The state comes from the address once, when a session begins; after that the address follows the state (the link
component writes it, see ui/components.py), so that it always describes the picture. Streamlit's own
`bind="query-params"` was tried: it leaves out defaults, puts translated labels into addresses and loses a default
after Back.
"""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

import attention_core as ac
from attention_core.cards import DEFAULT
from attention_core.teach.tasks import TASKS
from ui import examples, lessons, models
from ui.addresses import LOOKS, STEPS, UNSET, Note, Selection, lesson_behind, read_address
from ui.translations import language_of

_SAVED, _NOTES, _WORDS, _PAGE, _LABELS = "_saved", "_notes", "_words", "_page", "_labels"

KEPT: Final = "session"  # How long a control keeps its value: also while it is not drawn.


def begin() -> None:
    """Bring the state of a new session up from the address; an old one keeps its own."""
    state = st.session_state
    if _SAVED in state:
        state[_NOTES] = ()  # Notes speak of the address that was opened; the reader's first action puts them away.
        _fit_kept()
        return
    state[_SAVED], state[_NOTES] = read_address(st.query_params, language_of(st.context.locale))
    state.update(state[_SAVED])


def _fit_kept() -> None:
    """Trained and loaded models are kept only for a while: after that, the default, and a note."""
    state = st.session_state
    try:
        models.card(state.get("model", state[_SAVED]["model"]))
    except ac.UnknownModel as gone:
        note("model", gone.name)
        changed = {"model": DEFAULT, **lesson_behind(gone.name)}
        state.update(changed)
        state[_SAVED] |= changed


def arrive(page: str) -> None:
    """On another page than before, hand the state on: Streamlit gives the new page's controls their first values."""
    state = st.session_state
    if state.get(_PAGE, page) != page:
        state.update(state[_SAVED])
    state[_PAGE] = page


def end() -> None:
    """Keep the state for the next page."""
    state = st.session_state
    state[_SAVED] = {name: state.get(name, value) for name, value in state[_SAVED].items()}


def current() -> Selection:
    """The state as a value."""
    return Selection(**{name: st.session_state[name] for name in Selection.__dataclass_fields__})


def notes() -> tuple[Note, ...]:
    return st.session_state[_NOTES]


def note(field: str, value: object) -> None:
    st.session_state[_NOTES] = (*st.session_state[_NOTES], Note(field, str(value)))


def lesson() -> lessons.Lesson:
    """What the reader has chosen to train."""
    return lessons.lesson_of(st.session_state)


def use_task() -> None:
    """After another task was chosen: its recipe, with the same seed, compared with nothing."""
    state = st.session_state
    recipe = lessons.fields_of(TASKS[state["task"]].spec(seed=state["seed"]))
    state.update({name: value for name, value in recipe.items() if name != "own"})


def open_model(name: str) -> None:
    """Show this model on the other pages from now on, like one that was chosen there."""
    state = st.session_state
    state["model"], state["token"], state["key"] = name, UNSET, None
    use_model()


def relabel(name: str, language: str) -> None:
    """A menu speaks another language now: choose its entry anew, or the browser goes on sending the old label."""
    state = st.session_state
    if state.get(_LABELS, language) != language:
        state[name] = state[name]
    state[_LABELS] = language


def fit_model() -> ac.ModelCard:
    """The chosen model's card; a layer or head that it has not becomes its reading head."""
    state = st.session_state
    card = models.card(state["model"])
    layer, head = card.reading_head or (0, 0)
    if not state["layer"] < card.n_layers:
        state["layer"] = layer
    if not state["head"] < card.n_heads:
        state["head"] = head
    return card


def fit_tokens(trace: ac.Trace) -> None:
    """Keep the chosen token through an edit: the same position if its word is, else the one that asks first."""
    state = st.session_state
    words = tuple(token.text.casefold() for token in trace.tokens)
    before, state[_WORDS] = state.get(_WORDS), words
    if state["token"] == UNSET:
        state["token"] = _first_asker(trace, words)
    if before is None:
        _fit_address(trace, words)
    elif before != words:
        if not _is_same(state["token"], before, words):
            state["token"] = _first_asker(trace, words)
        if not _is_same(state["key"], before, words):
            state["key"] = None


def choose(token: int | None, key: int | None) -> None:
    """Lock a token and, if given, the cell of its answer; None releases."""
    st.session_state["token"], st.session_state["key"] = token, key


def move(step: str, query: int | None, key: int | None) -> None:
    """Where the walk stands now."""
    if step in STEPS:
        st.session_state["step"] = step
    asks = st.session_state["look"] == LOOKS[0]
    choose(*((query, key) if asks else (key, query)))


def use_example(name: str) -> None:
    """Put an example's sentence in the box, and its flip in the second one (or, for another model's, its first)."""
    state, example = st.session_state, examples.by_id(name)
    state["text"] = example.text
    second = examples.of_text(state["second"])
    if example.flip is not None:
        state["second"] = examples.by_id(example.flip).text
    elif second is not None and not set(second.models) & set(example.models):
        state["second"] = examples.first(example.models[0]).text


def use_model() -> None:
    """After another model was chosen: its reading head, and its first example in place of another model's.

    A sentence of the reader's own stays.
    """
    state = st.session_state
    try:
        card = models.card(state["model"])
    except ac.UnknownModel:  # A label of the language before, sent while the menu was on its way.
        state["model"] = state[_SAVED]["model"]
        return
    state["layer"], state["head"] = card.reading_head or (0, 0)
    family, shown = examples.family_of(card), examples.of_text(state["text"])
    if shown is not None and family not in shown.models and examples.of_family(family):
        use_example(examples.first(family).id)
        state["token"], state["key"] = UNSET, None


def open_instead(model: object, example: object) -> None:
    """What a note offers: the same sentence in another model, or an example in place of the sentence."""
    if model in models.names(st.session_state["model"]):
        st.session_state["model"] = model
        use_model()
    if example in [each.id for each in examples.all_examples()]:
        use_example(str(example))


def event(component: str, name: str) -> Any:
    """What a component sent with its trigger `name`, inside that trigger's callback."""
    return st.session_state[component][name]


def taken(name: str) -> Any:
    """What `mark` left there for this run alone, or None."""
    return st.session_state.pop(name, None)


def mark(name: str, value: Any) -> None:
    """Set what a widget shows, before it is drawn."""
    st.session_state[name] = value


def _fit_address(trace: ac.Trace, words: tuple[str, ...]) -> None:
    state = st.session_state
    for name in ("token", "key"):
        if state[name] is not None and state[name] >= len(words):
            note(name, state[name])
            state[name] = _first_asker(trace, words) if name == "token" else None


def _first_asker(trace: ac.Trace, words: tuple[str, ...]) -> int:
    """Where the token stands that the card names: its first place, or where words see only backwards, its last one."""
    asker = trace.card.details["ask"]["token"].casefold()
    places = [i for i, word in enumerate(words) if word == asker]
    if trace.card.causal:
        return places[-1] if places else len(words) - 1
    return places[0] if places else 0


def _is_same(position: int | None, before: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return position is not None and before[position : position + 1] == words[position : position + 1] != ()


def widget(key: str) -> Any:
    """What a widget that is no part of the selection holds now."""
    return st.session_state[key]
