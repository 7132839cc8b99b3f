"""QR codes, made here: nothing is sent anywhere."""

from __future__ import annotations

import segno

MAX_CHARACTERS = 2_000  # A phone reads no finer pattern from the last row.
DARK, LIGHT = "#000", "#fff"  # In both themes: cameras want dark on light.
SCALE = 8  # Pixels of a module before the page fits the image in.
QUIET = 4  # Modules of margin, as the standard asks for.


class TooLong(ValueError):
    """The text does not fit into a code that can be read from a projection."""


def image(text: str) -> str:
    """A QR code of `text` as the address of an image that carries all of itself (SVG).

    Raises:
        TooLong: more than `MAX_CHARACTERS`; ValueError: no text at all.
    """
    if len(text) > MAX_CHARACTERS or len(text.encode()) > MAX_CHARACTERS:
        raise TooLong(len(text))
    if not text:
        raise ValueError(text)
    code = segno.make_qr(text, error="l")
    return code.svg_data_uri(border=QUIET, dark=DARK, light=LIGHT, scale=SCALE)
