"""The story of 佛跳墙: the numbers of every scene, computed a second time with torch or from the formula in words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import attention_core as ac
from attention_core.cards import FOLDER
from attention_core.stories import dish, dish_questions, dish_tied, dish_training

SENTENCE = "晚上我们吃佛跳墙"
SENTENCES = (SENTENCE, "他跳过围墙去吃佛跳墙", "佛祖看他跳过墙", "晚上我们吃火锅")
TALK = "今天吃佛跳墙，明天看佛经。"


class Plain:
    """A taught model without windows' tricks, straight from its file: embeddings, one layer after another, in torch."""

    def __init__(self, name: str) -> None:
        self.facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        self.tensors = {key: value.double() for key, value in load_file(FOLDER / f"{name}.safetensors").items()}

    def stream(self, text: str, places: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
        known = {word: i for i, word in enumerate(self.facts["vocabulary"])}
        ids = [known[word] for word in self.facts["prefix"]] + [known.get(c, known[self.facts["unknown"]]) for c in text]
        content = self.tensors["embedding"][ids]
        return content, self.waves(*content.shape) * places

    def waves(self, n: int, d: int) -> torch.Tensor:
        if self.facts["positions"] == "none":
            return torch.zeros(n, d, dtype=torch.float64)
        at = torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
        return torch.stack([at.sin(), at.cos()], dim=2).reshape(n, d)

    def part(self, layer: int, name: str) -> torch.Tensor:
        """A matrix of a layer, (head, in, out); where it is shared, the file holds it under the other's name."""
        return self.tensors[f"layers.{layer}.{name}"]

    def heads(self, text: str, places: bool = True) -> list[list[dict[str, torch.Tensor]]]:
        """q, k, v, scores, weights, output of every head of every layer."""
        content, waves = self.stream(text, places)
        x, found = content + waves, []
        for at, facts in enumerate(self.facts["layers"]):
            here = [self.head(x, at, h, facts["window"]) for h in range(self.facts["n_heads"])]
            x = x + sum(head["output"] @ self.part(at, "w_o")[h] for h, head in enumerate(here))
            found.append(here)
            if facts["mlp"]:
                x = x + self.mlp(x, at)
        self.last = x
        return found

    def head(self, x: torch.Tensor, at: int, h: int, window: int | None) -> dict[str, torch.Tensor]:
        q, k, v = (x @ self.part(at, name)[h] for name in ("w_q", "w_k", "w_v"))
        scores = q @ k.T
        away = (torch.arange(len(x))[:, None] - torch.arange(len(x))).abs()
        hidden = away > (len(x) if window is None else window)
        weights = torch.softmax((scores / math.sqrt(q.shape[1])).masked_fill(hidden, -math.inf), dim=1)
        return {"q": q, "k": k, "v": v, "scores": scores, "weights": weights, "output": weights @ v, "x": x}

    def mlp(self, x: torch.Tensor, at: int) -> torch.Tensor:
        one, two = (self.part(at, f"mlp.{name}") for name in ("w_in", "w_out"))
        hidden = torch.relu(x @ one + self.part(at, "mlp.b_in"))
        return hidden @ two + self.part(at, "mlp.b_out")


def near(found: object, wanted: object, within: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), atol=within, rtol=0)
