"""Opening what the catalogue does not hold: a folder, a Hugging Face id, a file of numbers; and the wait for it."""

from __future__ import annotations

import streamlit as st

import attention_core as ac
from ui import allowed, notes, own, selection, shelf
from ui.translations import Words

LOOKS_AFTER = 0.5  # Seconds between two looks at a loading.


def box(words: Words) -> None:
    """A button with what else can be opened behind it."""
    with st.popover(words("opening.button"), key="opening", help=words("opening.help")):
        prefixes = allowed.prefixes()
        if prefixes:
            _by_name(prefixes, words)
        else:
            st.caption(words("opening.not_started"))
        st.divider()
        _by_file(words)


def waiting(name: str, words: Words) -> bool:
    """Whether the model is not there yet: how far it is stands on the page, with a way to stop, or why it failed."""
    loading = shelf.ask(name, selection.visitor())
    if loading is None:
        return False
    if loading.error is not None:
        _failed(loading, words)
        return True
    _progress(name, words)
    return True


@st.fragment(run_every=LOOKS_AFTER)
def _progress(name: str, words: Words) -> None:
    loading = shelf.ask(name, selection.visitor())
    if loading is None or loading.error is not None:
        st.rerun()
    with st.container(border=True, key="loading"):
        st.markdown(words("opening.loading", name=notes.literal(_shown(name))))
        share = loading.done / loading.total if loading.total > 1 else None  # One of one says nothing.
        said = words(f"opening.stage_{loading.stage}")
        if loading.stage == "downloading" and share is not None:
            said = words("opening.downloaded", done=_megabytes(loading.done), total=_megabytes(loading.total))
        if share is None:
            st.status(said, state="running")
        else:
            st.progress(min(1.0, share), text=said)
        st.button(words("opening.cancel"), key="cancel_loading", on_click=selection.leave_model, args=(name,))


def _failed(loading: shelf.Loading, words: Words) -> None:
    error = loading.error
    if error is not None:
        st.warning(notes.sentence_of(error, words, "tokens"))
    with st.container(horizontal=True):
        st.button(words("opening.again"), key="load_again", on_click=shelf.forget, args=(loading.name,))
        st.button(words("opening.back"), key="load_back", on_click=selection.leave_model, args=(loading.name,))


def _by_name(prefixes: tuple[str, ...], words: Words) -> None:
    kinds = "both" if len(prefixes) > 1 else ("local" if allowed.LOCAL in prefixes else "hub")
    with st.form("open_model", border=False):
        st.text_input(
            words(f"opening.name_{kinds}"),
            key="wanted_model",
            placeholder=words(f"opening.example_{kinds}"),
            max_chars=1000,
        )
        st.form_submit_button(words("opening.open"), on_click=selection.open_wanted)
    refused = selection.taken("refused_model")
    if refused is not None:
        st.warning(words(f"opening.refused_{refused[0]}", name=notes.literal(refused[1]), **_folders()))


def _folders() -> dict[str, str]:
    return {"folders": ", ".join(notes.literal(str(folder)) for folder in allowed.folders())}


def _by_file(words: Words) -> None:
    chosen = st.file_uploader(
        words("opening.file"),
        type=["npz", "npy", "csv"],
        key="own_arrays",
        help=words("opening.file_help"),
        max_upload_size=own.LARGEST // 2**20,
    )
    if chosen is None:
        return
    item = selection.item()
    try:
        name = own.add(chosen.getvalue(), chosen.name, item)
    except ac.WhichItem as batch:
        st.info(notes.sentence_of(batch, words))
        st.number_input(words("opening.item"), 0, batch.n_items - 1, key="array_item", value=None)
        return
    except ac.AttentionError as error:
        st.warning(notes.sentence_of(error, words))
        return
    st.button(words("opening.show"), key="show_arrays", on_click=selection.open_model, args=(name,), type="primary")


def _shown(name: str) -> str:
    return name.removeprefix(allowed.LOCAL).removeprefix(allowed.HUB)


def _megabytes(n: int) -> str:
    return f"{n / 2**20:,.0f}"
