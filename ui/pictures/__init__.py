"""From a trace and a selection to the frame that a picture draws. Pure: nothing here knows Streamlit."""
