"""Real transformers, through torch and transformers: every head's weights exactly as the model computes them.

>>> from attention_core.capture import load_folder
>>> load_folder("no/such/folder")
Traceback (most recent call last):
attention_core.errors.UnsupportedModel: 'no/such/folder' is no model's folder: it has no config.json
"""

from attention_core.capture.folders import load_folder
from attention_core.capture.hub import load_hub
from attention_core.capture.packaged import load_packaged
from attention_core.capture.real import RealModel
from attention_core.capture.vision import ImageModel

__all__ = ["ImageModel", "RealModel", "load_folder", "load_hub", "load_packaged"]
