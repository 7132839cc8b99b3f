"""Real transformers, through torch and transformers: every head's weights exactly as the model computes them.

>>> from attention_core.capture import load_folder
>>> load_folder("no/such/folder")
Traceback (most recent call last):
attention_core.errors.UnsupportedModel: 'no/such/folder' is no model's folder: it has no config.json
"""

from attention_core.capture.folders import load_folder
from attention_core.capture.real import RealModel

__all__ = ["RealModel", "load_folder"]
