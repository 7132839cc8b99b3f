"""What the reader has chosen: the only module that touches st.session_state.

The state comes from the address once, when a session begins; after that the address follows the state (the link
component writes it, see ui/components.py), so that it always describes the picture. Streamlit's own
`bind="query-params"` was tried: it leaves out defaults, puts translated labels into addresses and loses a default
after Back.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

import attention_core as ac
from attention_core.cards import DEFAULT
from attention_core.teach.tasks import TASKS
from ui import allowed, edit_texts, examples, lessons, models, shelf, writers
from ui.addresses import LOOKS, STEPS, UNSET, Note, Selection, lesson_behind, read_address
from ui.translations import language_of

_SAVED, _NOTES, _WORDS, _PAGE, _LABELS = "_saved", "_notes", "_words", "_page", "_labels"
_OPENED, _VISITOR, _ASKED = "_opened", "_visitor", "_asked"
_EDITED = "_edited"
_QUERY = "_query"

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
    state[_OPENED], state[_VISITOR] = (), secrets.token_hex(8)
    state[_QUERY] = dict(st.query_params)
    state[_ASKED] = tuple(name for name in ("stack", "layer", "head") if name in st.query_params)


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


def writer() -> writers.Choice:
    """What the reader writes with on the Write page, fitted to what there is."""
    writers.fit(st.session_state)
    return writers.choice_of(st.session_state)


def use_writer() -> None:
    """After another model was chosen to write with: its first head, and a prompt that it can read."""
    state = st.session_state
    chosen, state["writer"] = state["writer"], state[_SAVED]["writer"]
    writers.use(state, chosen if chosen in writers.names(*opened()) else state["writer"])


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


def open_wanted() -> None:
    """Open the model that was typed into the box, or leave word why not."""
    state = st.session_state
    typed = state["wanted_model"]
    try:
        name = allowed.name_of(typed)
    except ValueError:
        state["refused_model"] = ("strange", typed)
        return
    if allowed.is_allowed(name):
        open_model(name)
    else:
        kind = "local" if name.startswith(allowed.LOCAL) else "hub"
        is_started = name.startswith(allowed.prefixes() or ("\0",))
        state["refused_model"] = ("outside" if is_started else kind, typed)


def leave_model(name: str) -> None:
    """Wait no longer for that model: back to the usual one."""
    state = st.session_state
    shelf.leave(name, visitor())
    shelf.forget(name)
    state[_OPENED] = tuple(other for other in state[_OPENED] if other != name)
    open_model(DEFAULT)


def item() -> int | None:
    """Which item of a batch of own arrays."""
    return st.session_state.get("array_item")


def relabel(name: str, language: str) -> None:
    """A menu speaks another language now: choose its entry anew, or the browser goes on sending the old label."""
    state = st.session_state
    if state.get(_LABELS, language) != language:
        state[name] = state[name]
    state[_LABELS] = language


def visitor() -> str:
    """A name for this session, known to nobody else."""
    return st.session_state[_VISITOR]


def opened() -> tuple[str, ...]:
    """The models outside of the catalogue that this session has opened, the chosen one among them."""
    state = st.session_state
    names = (*state[_OPENED], *([state["model"]] if state["model"] not in models.names() else []))
    state[_OPENED] = tuple(name for name in dict.fromkeys(names) if models.is_there(name))
    return state[_OPENED]


def fit_model() -> ac.ModelCard:
    """The chosen model's card; a stack, layer or head that it has not becomes its reading head, or its first one."""
    state = st.session_state
    card = models.card(state["model"])
    if models.is_pending(card):
        return card
    layer, head = card.reading_head or (-1, 0)
    _fit("stack", models.stacks(card))
    _fit("layer", models.layer_numbers(card, state["stack"]), layer)
    _fit("head", range(models.n_heads(card, state["stack"], state["layer"])), head)
    state[_ASKED] = ()
    return card


def _fit(name: str, there_are: Sequence[Any], usual: object = None) -> None:
    """A choice that the model does not have becomes the usual one, and if an address asked for it, a note says so."""
    state = st.session_state
    if state[name] in there_are:
        return
    if name in state[_ASKED]:
        note(name, state[name])
    state[name] = usual if usual in there_are else there_are[0]


def fit_tokens(trace: ac.Trace) -> None:
    """Keep the chosen token through an edit: the same position if its word is, else the one that asks first."""
    state = st.session_state
    words, answers = _sides(trace)
    before, state[_WORDS] = state.get(_WORDS), (words, answers)
    if state["token"] == UNSET:
        state["token"] = _first_asker(trace, words)
    if before is None:
        _fit_address(trace, words, answers)
    elif before != (words, answers):
        if not _is_same(state["token"], before[0], words):
            state["token"] = _first_asker(trace, words)
        if not _is_same(state["key"], before[1], answers):
            state["key"] = None


def _sides(trace: ac.Trace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words among which the token is chosen, and those among which its answer is."""
    stack, is_asking = st.session_state["stack"], st.session_state["look"] == LOOKS[0]
    sides = (
        tuple(token.text.casefold() for token in trace.asking(stack)),
        tuple(token.text.casefold() for token in trace.answering(stack)),
    )
    return sides if is_asking else (sides[1], sides[0])


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
    state["stack"] = models.stacks(card)[0]
    layers = models.layer_numbers(card, state["stack"])
    state["layer"], state["head"] = card.reading_head or (layers[0], 0)
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


def peek(name: str) -> Any:
    """What stands under that name, or None."""
    return st.session_state.get(name)


def asked(field: str) -> str | None:
    """What the address that this session began with says of a field that is no part of the selection."""
    return st.session_state[_QUERY].get(field)


def follow(fields: Mapping[str, str]) -> None:
    """Set the picture to what an address with these fields shows; language and size stay."""
    state = st.session_state
    found, _ = read_address({**fields, "projector": str(int(state["is_projected"]))}, state["lang"])
    state.update({name: value for name, value in found.items() if name not in ("lang", "is_projected")})
    state[_SAVED] |= found


def mark(name: str, value: Any) -> None:
    """Set what a widget shows, before it is drawn."""
    st.session_state[name] = value


def _fit_address(trace: ac.Trace, words: tuple[str, ...], answers: tuple[str, ...]) -> None:
    state = st.session_state
    for name, side in (("token", words), ("key", answers)):
        if state[name] is not None and state[name] >= len(side):
            note(name, state[name])
            state[name] = _first_asker(trace, words) if name == "token" else None


def _first_asker(trace: ac.Trace, words: tuple[str, ...]) -> int:
    """Where the token stands that the card names: its first place, or where words see only backwards, its last one.

    Where the card names none: the last token that was typed, or that a picture has.
    """
    asker = trace.card.details.get("ask", {"token": ""})["token"].casefold()
    places = [i for i, word in enumerate(words) if word == asker]
    if trace.card.causal:
        return places[-1] if places else len(words) - 1
    typed = [i for i, token in enumerate(trace.tokens) if not token.is_special and i < len(words)]
    return places[0] if places else (typed or [0])[-1 if "ask" not in trace.card.details else 0]


def _is_same(position: int | None, before: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return position is not None and before[position : position + 1] == words[position : position + 1] != ()


def widget(key: str) -> Any:
    """What a widget that is no part of the selection holds now."""
    return st.session_state[key]


def edits() -> ac.Edits:
    """What is different in the second run of What if."""
    return edit_texts.read(st.session_state["edits"])[0]


def edit(changed: ac.Edits) -> None:
    st.session_state["edits"] = edit_texts.write(changed)


def fit_edits(trace: ac.Trace, is_fit: Callable[[ac.Edits], bool]) -> None:
    """Keep what fits the model and the text, and still speaks of the same words. What an address asked for is noted."""
    state = st.session_state
    words = tuple(token.text.casefold() for token in trace.tokens)
    before, state[_EDITED] = state.get(_EDITED), words
    if before is not None and before != words:
        state["edits"], _ = edit_texts.keep(state["edits"], lambda one: _speaks_of(one, before, words))
    state["edits"], lost = edit_texts.keep(state["edits"], is_fit)
    for piece in lost if before is None else ():
        note("edits", piece)


def _speaks_of(one: ac.Edits, before: tuple[str, ...], words: tuple[str, ...]) -> bool:
    named = {*one.silenced, *(token for edge in one.cut for token in edge[2:])}
    return all(_is_same(token, before, words) for token in named)
