"""The frame of a scene's pictures (assets/components/scene)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui import selection
from ui.frame import pack
from ui.scenes.kinds import Figures, Scene
from ui.scenes.texts import Texts
from ui.translations import Words


def frame(scene: Scene, figures: Figures, said: Texts, words: Words, *, is_paper: bool = False) -> bytes:
    """The scene's pictures, each with its arrays under "<place>.<name>"; on paper they are light in every theme."""
    pictures, arrays = [], dict[str, np.ndarray]()
    for i, picture in enumerate(scene.pictures(figures, said)):
        facts: dict[str, Any] = {**picture.facts, "kind": picture.kind, "label": picture.label}
        pictures.append({**facts, "arrays": sorted(picture.arrays)})
        arrays |= {f"{i}.{name}": np.asarray(array) for name, array in picture.arrays.items()}
    header = {
        "scene": scene.id,
        "strings": words.section("scene"),
        "pictures": pictures,
        "projector": selection.current().is_projected,
        "paper": is_paper,
    }
    return pack(header, arrays)
