"""The page that planted.py serves: ?picture=explore|…&head=<a name of heads, explore_heads, real_heads, overviews>."""

import streamlit as st

from tests.browser.explore_heads import TRACES
from tests.browser.heads import HEADS
from tests.browser.overviews import OVERVIEWS
from tests.browser.real_heads import REAL
from ui import components, translations
from ui.pictures import compare, explore, heads, steps
from ui.selection import Selection

query, state = st.query_params, st.session_state
name = query["head"]
trace = OVERVIEWS[name]() if name in OVERVIEWS else {**HEADS, **TRACES, **REAL}[name]().trace()
selection = Selection(
    lang=query.get("lang", "en"),
    model="pronoun",
    text=trace.text,
    pair="",
    target="",
    second=trace.text,
    is_compared=False,
    stack=query.get("stack", next(iter(trace.stacks))),
    layer=int(query.get("layer", trace.layers[0].index)),
    head=int(query.get("h", 0)),
    token=state.setdefault("token", int(query.get("token", 0))),
    key=state.setdefault("key", int(query["key"]) if "key" in query else None),
    look=state.setdefault("look", query.get("look", "asks")),
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
elif query["picture"] == "heads":
    components.heads(heads.frame(trace, selection, words))
elif query["picture"] == "compare":
    other = {**HEADS, **TRACES, **REAL}[query["other"]]().trace()
    components.compare(compare.frame(trace, other, selection, words))
else:
    components.steps(steps.frame(trace, selection, words))
