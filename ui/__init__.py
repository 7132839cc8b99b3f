"""Draws what attention_core computes, as a Streamlit app."""

import os

# Many readers share the cores: each computation keeps to one, unless the server's owner says otherwise. Read by numpy
# and torch when they are imported, which happens after this.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
