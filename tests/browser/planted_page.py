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
    pair="",
    target="",
    second=trace.text,
    is_compared=False,
    stack=query.get("stack", "self"),
    layer=0,
    head=0,
    token=state.setdefault("token", int(query.get("token", 0))),
    key=state.setdefault("key", None),
    look=query.get("look", "asks"),
    step=state.setdefault("step", query.get("step", "score")),
    is_projected=False,
    is_whole=query.get("whole", "0") == "1",
    block=query.get("block", "all"),
    is_sink_left_out=query.get("nosink", "0") == "1",
)
st.set_page_config(layout="wide")
words = translations.words(selection.lang)
if query.get("picture", "explore") == "explore":
    components.explore(explore.frame(trace, selection, words))
else:
    components.steps(steps.frame(trace, selection, words))
