"""The models of the story of 佛跳墙, straight from their files and in torch: what its numbers are held against."""

from __future__ import annotations

import json
import math

import numpy as np
import torch
from safetensors.torch import load_file

from attention_core.cards import FOLDER

SENTENCE = "晚上我们吃佛跳墙"
SENTENCES = (SENTENCE, "他跳过围墙去吃佛跳墙", "佛祖看他跳过墙", "晚上我们吃火锅")


class Plain:
    """A model straight from its file, layer after layer, in torch."""

    def __init__(self, name: str) -> None:
        self.facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        self.tensors = {key: value.double() for key, value in load_file(FOLDER / f"{name}.safetensors").items()}

    def parts(self, text: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Content and position of each token."""
        words = self.facts["vocabulary"]
        ids = [words.index(c if c in words else self.facts["unknown"]) for c in (*self.facts["prefix"], *text)]
        content = self.tensors["embedding"][ids]
        n, d = content.shape
        angle = torch.arange(n).double()[:, None] / 10000 ** (torch.arange(0, d, 2).double() / d)
        waves = torch.stack([angle.sin(), angle.cos()], dim=2).reshape(n, d)
        return content, waves if self.facts["positions"] == "sinusoidal" else torch.zeros(n, d).double()

    def heads(self, text: str, places: bool = True) -> list[list[dict[str, torch.Tensor]]]:
        """q, k, v, scores, weights and output of every head of every layer; the stream is kept as `last`."""
        content, waves = self.parts(text)
        self.last, found = content + waves * places, []
        for at, facts in enumerate(self.facts["layers"]):
            x = self.last
            found.append([self.head(x, at, h, facts["window"]) for h in range(self.facts["n_heads"])])
            written = sum(one["output"] @ self.get(at, "w_o")[h] for h, one in enumerate(found[-1]))
            self.last = x + written
            if facts["mlp"]:
                hidden = torch.relu(self.last @ self.get(at, "mlp_in") + self.get(at, "mlp_in_bias"))
                self.last = self.last + hidden @ self.get(at, "mlp_out") + self.get(at, "mlp_out_bias")
        return found

    def get(self, at: int, name: str) -> torch.Tensor:
        return self.tensors[f"layers.{at}.{name}"]

    def head(self, x: torch.Tensor, at: int, h: int, window: int | None) -> dict[str, torch.Tensor]:
        q, k, v = (x @ self.get(at, name)[h] for name in ("w_q", "w_k", "w_v"))
        places = torch.arange(len(x))
        hidden = (places[:, None] - places).abs() > (len(x) if window is None else window)
        scaled = (q @ k.T / math.sqrt(q.shape[1])).masked_fill(hidden, -math.inf)
        weights = torch.softmax(scaled, dim=1)
        return {"q": q, "k": k, "v": v, "scores": q @ k.T, "weights": weights, "output": weights @ v, "hidden": hidden}

    def yes(self, text: str) -> float:
        """The probability of "about the dish" at [CLS]."""
        self.heads(text)
        logits = self.last[0] @ self.tensors["about"] + self.tensors["about_bias"]
        return float(torch.softmax(logits, dim=0)[1])


def near(found: object, wanted: object, within: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), atol=within, rtol=0)


def seeds_of(name: str) -> list[dict]:
    facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return sorted(facts["figures"]["seeds"], key=lambda row: row["seed"])
