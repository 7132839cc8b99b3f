"""The lessons: common beliefs, tried out."""

from __future__ import annotations

from ui.scenes import lessons_1, lessons_1_softmax, lessons_2

SCENES = (*lessons_1.SCENES, *lessons_1_softmax.SCENES, *lessons_2.SCENES)
