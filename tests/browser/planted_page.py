"""The page that planted.py serves: ?head=<name of heads.py>&picture=explore|steps."""

import streamlit as st

from tests.browser.heads import HEADS
from ui import components, translations
from ui.pictures import explore, steps
from ui.selection import Selection

query, state = st.query_params, st.session_state
trace = HEADS[query["head"]]().trace()
selection = Selection(
    lang=query.get("lang", "en"),
    model="pronoun",
    text=trace.text,
    second=trace.text,
    is_compared=False,
    layer=0,
    head=0,
    token=state.setdefault("token", int(query.get("token", 0))),
    key=state.setdefault("key", None),
    look=query.get("look", "asks"),
    step=state.setdefault("step", query.get("step", "score")),
    is_projected=False,
)
st.set_page_config(layout="wide")
words = translations.words(selection.lang)
if query.get("picture", "explore") == "explore":
    components.explore(explore.frame(trace, selection, words))
else:
    components.steps(steps.frame(trace, selection, words))
