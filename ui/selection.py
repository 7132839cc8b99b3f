"""What the reader has chosen: the only module that touches st.session_state.

The state comes from the address once, when a session begins; after that the address follows the state (the link
component writes it, see ui/components.py), so that it always describes the picture. Streamlit's own
`bind="query-params"` was tried: it leaves out defaults, puts translated labels into addresses and loses a default
after Back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st

import attention_core as ac
from attention_core.cards import DEFAULT
from attention_core.teach.tasks import TASKS
from ui import examples, learned, lessons, models
from ui.translations import LANGUAGES, language_of

LOOKS = ("asks", "answers")
STEPS = ("project", "score", "softmax", "sum")
MAX_CHARACTERS = 100_000  # Far beyond what a model takes: its own limit answers first, with the text kept.
MAX_ADDRESS = 8_000  # Servers and proxies refuse longer ones.

UNSET = -1  # No token was named: the one that the model's card names is chosen.

_SAVED, _NOTES, _WORDS, _PAGE, _LABELS = "_saved", "_notes", "_words", "_page", "_labels"

KEPT: Final = "session"  # How long a control keeps its value: also while it is not drawn.


@dataclass(frozen=True)
class Selection:
    """Everything that a link reproduces.

    Attributes:
        lang, model, text: language, model name, sentence.
        second: the sentence to compare with; is_compared: whether it is shown.
        layer, head: numbers from 0.
        token: the position that asks (or, looking the other way, is looked at); None when none is locked.
        key: the position of the chosen answer; None means the strongest.
        look: "asks" (who does it look at) or "answers" (who looks at it).
        step: where the walk stands; is_projected: sizes for a projector.
    """

    lang: str
    model: str
    text: str
    second: str
    is_compared: bool
    layer: int
    head: int
    token: int | None
    key: int | None
    look: str
    step: str
    is_projected: bool


@dataclass(frozen=True)
class Note:
    """Something in the address that could not be used: which field, what it said."""

    field: str
    value: str


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
        changed = {"model": DEFAULT, **_lesson_behind(gone.name)}
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


def read_address(query: Mapping[str, str], language: str) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """The state that an address describes, and what in it could not be used."""
    found: list[Note] = []

    def read(name: str, default: Any, convert: Callable[[str], Any]) -> Any:
        if name not in query:
            return default
        try:
            return convert(query[name])
        except (ValueError, KeyError, ac.UnknownModel):
            refuse(name, query[name])
            return default

    def refuse(name: str, value: str) -> None:
        found.append(Note(name, value))

    model = read("model", DEFAULT, models.known)
    card = models.card(model)
    layer, head = card.reading_head or (0, 0)
    text = query.get("text", examples.first(examples.family_of(card)).text)[:MAX_CHARACTERS]
    flip = examples.flip_of(text)
    fields = {
        "lang": read("lang", language, _one_of(LANGUAGES)),
        "model": model,
        "text": text,
        "second": query.get("second", text if flip is None else flip.text)[:MAX_CHARACTERS],
        "is_compared": read("compare", "0", _one_of(("0", "1"))) == "1",
        "layer": read("layer", layer, _below(card.n_layers)),
        "head": read("head", head, _below(card.n_heads)),
        "token": read("token", UNSET, _position),
        "key": read("key", None, _position),
        "look": read("look", LOOKS[0], _one_of(LOOKS)),
        "step": read("step", STEPS[0], _one_of(STEPS)),
        "is_projected": read("projector", "0", _one_of(("0", "1"))) == "1",
    }
    taught = lessons.read(query, refuse)
    if any(note.field == "model" for note in found) and query["model"].startswith(learned.PREFIX):
        taught |= _lesson_behind(query["model"])
    return fields | taught, tuple(found)


def _lesson_behind(name: str) -> dict[str, Any]:
    """What to train to have the model of that name again; nothing where the name says nothing."""
    try:
        return lessons.fields_of(learned.spec_of(name))
    except ValueError:
        return {}


def address(selection: Selection) -> str:
    """The query string that reproduces `selection`, defaults included; without the texts where it would be too long."""
    fields = {
        "lang": selection.lang,
        "model": selection.model,
        "layer": selection.layer,
        "head": selection.head,
        **({} if selection.token == UNSET else {"token": "none" if selection.token is None else selection.token}),
        **({} if selection.key is None else {"key": selection.key}),
        "look": selection.look,
        "step": selection.step,
        **({"projector": 1} if selection.is_projected else {}),
    }
    texts = {"text": selection.text, **({"compare": 1, "second": selection.second} if selection.is_compared else {})}
    whole = urlencode({**texts, **fields}, errors="replace")
    return whole if len(whole) <= MAX_ADDRESS else urlencode(fields)


def lesson() -> lessons.Lesson:
    """What the reader has chosen to train."""
    return lessons.lesson_of(st.session_state)


def lesson_address(selection: Selection) -> tuple[str, bool]:
    """The query string that reproduces the Learn page, and whether all of it: too long, it lacks own sentences."""
    projector = {"projector": 1} if selection.is_projected else {}
    fields = {"lang": selection.lang, **lessons.address(lesson()), **projector}
    whole = urlencode(fields, errors="replace")
    is_whole = len(whole) <= MAX_ADDRESS
    return whole if is_whole else urlencode({**fields, "own": ""}), is_whole


def use_task() -> None:
    """After another task was chosen: its recipe, with the same seed, compared with nothing."""
    state = st.session_state
    recipe = lessons.fields_of(TASKS[state["task"]].spec(seed=state["seed"]))
    state.update({name: value for name, value in recipe.items() if name != "own"})


def open_model(name: str) -> None:
    """Show this model on the other pages from now on, with a text of its task."""
    state = st.session_state
    state["model"], state["token"], state["key"] = name, UNSET, None
    card = models.card(name)
    state["layer"], state["head"] = card.reading_head or (0, 0)
    family, shown = examples.family_of(card), examples.of_text(state["text"])
    if examples.of_family(family) and (shown is None or family not in shown.models):
        use_example(examples.first(family).id)


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


def _one_of(options: Any) -> Callable[[str], str]:
    def convert(value: str) -> str:
        if value not in options:
            raise ValueError(value)
        return value

    return convert


def _below(limit: int) -> Callable[[str], int]:
    def convert(value: str) -> int:
        number = int(value)
        if not 0 <= number < limit:
            raise ValueError(value)
        return number

    return convert


def _position(value: str) -> int | None:
    return None if value == "none" else _below(MAX_CHARACTERS)(value)


def widget(key: str) -> Any:
    """What a widget that is no part of the selection holds now."""
    return st.session_state[key]
