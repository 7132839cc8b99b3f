"""Imports transformers. From a picture's file to the numbers that a network is fed, as its checkpoint says."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image, ImageOps

from attention_core.errors import UnfitPicture, UnsupportedModel
from attention_core.steps import read_only

# Ways of preparing pictures that need Pillow only, by the names that checkpoints give them.
WAYS = ("ViT", "DeiT", "Bit", "Beit", "CLIP", "Siglip")
SWITCHES = ("do_resize", "do_center_crop", "do_rescale", "do_normalize")
SETTINGS = (*SWITCHES, "size", "crop_size", "resample", "rescale_factor", "image_mean", "image_std")
LARGEST = 2048  # Pixels of a side that a checkpoint may ask for.
MOST_BYTES, MOST_PIXELS, MOST_STRETCHED = 30_000_000, 50_000_000, 20
FORMATS = ("PNG", "JPEG")


class Eye:
    """What prepares pictures for one checkpoint. Threads may share it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """From what stands in the checkpoint's preprocessor_config.json.

        Raises:
            UnsupportedModel: it asks for something that is not known here.
        """
        name = str(settings.get("image_processor_type") or settings.get("feature_extractor_type") or "")
        way = name.removesuffix("Fast").removesuffix("ImageProcessor").removesuffix("FeatureExtractor")
        if way not in WAYS:
            known = f"known are {', '.join(WAYS)}"
            raise UnsupportedModel(
                f"its pictures are prepared by {name or 'nothing named'}, which is not known: {known}"
            )
        if not all(0 < side <= LARGEST for key in ("size", "crop_size") for side in _sides(settings.get(key))):
            raise UnsupportedModel(f"its pictures are prepared in a size that no network takes: {settings.get('size')}")
        try:
            chosen = {key: settings[key] for key in SETTINGS if key in settings}
            self._prepare = getattr(transformers, f"{way}ImageProcessorPil")(**chosen)
            self.read(np.zeros((8, 8, 3), dtype=np.uint8))
        except Exception as error:  # Whatever strange settings make the library raise.
            raise UnsupportedModel(f"its preprocessor_config.json is damaged: {error}") from error

    def read(self, image: bytes | np.ndarray) -> tuple[np.ndarray, torch.Tensor]:
        """The picture as the network sees it, (height, width, 3) of 0–255, and (1, 3, height, width) what it is fed.

        Args:
            image: a PNG's or JPEG's bytes, or (height, width, 3) uint8.

        Raises:
            UnfitPicture: it is no such picture, or too large.
        """
        whole = decoded(image) if isinstance(image, bytes) else image
        if whole.dtype != np.uint8 or whole.ndim != 3 or whole.shape[2] != 3 or not whole.size:
            raise UnfitPicture(f"an array of {whole.dtype} {whole.shape} is no picture: give uint8 (height, width, 3)")
        _must_be_drawable(whole.shape[1], whole.shape[0])
        seen = self._prepare(whole, do_rescale=False, do_normalize=False, return_tensors="np")["pixel_values"][0]
        picture = np.ascontiguousarray(np.moveaxis(seen, 0, 2)).astype(np.uint8)
        fed = self._prepare(picture, do_resize=False, do_center_crop=False, return_tensors="pt")["pixel_values"]
        return read_only(picture), fed


def decoded(data: bytes) -> np.ndarray:
    """(height, width, 3) uint8, upright; what is transparent on white.

    Raises:
        UnfitPicture: the bytes are no PNG or JPEG, not a whole one, or too large.
    """
    if len(data) > MOST_BYTES:
        raise UnfitPicture(f"the file has {len(data):,} bytes: at most {MOST_BYTES:,} are read")
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as found:
            _must_be_drawable(*found.size)  # By the header, before anything is unpacked.
            upright = ImageOps.exif_transpose(found).convert("RGBA")
    except UnfitPicture:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnfitPicture(f"the picture is too large: {error}") from error
    except Exception as error:  # Decoders raise a dozen different things on damaged files.
        raise UnfitPicture("the file is no PNG or JPEG, or it is damaged: save the picture again as one") from error
    white = Image.new("RGBA", upright.size, "white")
    return np.asarray(Image.alpha_composite(white, upright).convert("RGB"))


def _must_be_drawable(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise UnfitPicture(f"the picture has {width:,} × {height:,} pixels: make it smaller than {MOST_PIXELS:,}")
    if max(width, height) > MOST_STRETCHED * min(width, height):
        raise UnfitPicture(f"the picture has {width:,} × {height:,} pixels: cut it to a shape that is less narrow")


def _sides(size: Any) -> list[int]:
    values = size.values() if isinstance(size, Mapping) else size if isinstance(size, list | tuple) else [size]
    return [int(side) for side in values if isinstance(side, int | float)]
