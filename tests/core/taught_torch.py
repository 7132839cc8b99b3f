"""A taught model straight from its file, in torch: what the numbers of a story are held against."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from attention_core.cards import FOLDER

Hide = Callable[[int, int], bool]


class Model:
    """A taught model straight from its file, in torch: named parts of the stream, one layer after another."""

    def __init__(self, name: str) -> None:
        self.facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        self.tensors = {key: value.double() for key, value in load_file(FOLDER / f"{name}.safetensors").items()}
        if "table" in self.facts:
            table = load_file(FOLDER / self.facts["table"]["file"])
            self.tensors["embedding"] = table["embedding_q8"].double() * table["embedding_scale"].double()
        self.known = {word: i for i, word in enumerate(self.facts["vocabulary"])}

    def words(self, text: str) -> list[str]:
        spoken = self.facts["tokenizer"] == "words"
        return re.findall(r"[a-z']+|[^a-z'\s]", text.lower()) if spoken else list(text)

    def run(self, text: str, causal: bool | None = None, places: bool = True, hide: Hide | None = None) -> Run:
        """hide(query, key): what layer 0 may not see, on top of the mask."""
        unknown = self.known[self.facts["unknown"]]
        ids = [self.known.get(word, unknown) for word in self.words(text)]
        content = self.tensors["embedding"][ids]
        stream: dict[str, Any] = {"word": content + self.waves(*content.shape) * places}
        run = Run(self, [], [dict(stream)])
        n = len(ids)
        for at, facts in enumerate(self.facts["layers"]):
            hidden = torch.ones(n, n).triu(1).bool() if (self.facts["causal"] if causal is None else causal) else None
            hidden = torch.zeros(n, n).bool() if hidden is None else hidden
            if hide is not None and at == 0:
                hidden = hidden | torch.tensor([[hide(i, j) for j in range(n)] for i in range(n)])
            heads = [self.head(stream, at, h, facts, hidden) for h in range(self.facts["n_heads"])]
            written = sum(head["after"] for head in heads)
            stream = {**stream, facts["writes"]: stream.get(facts["writes"], 0) + written}
            run.layers.append(heads)
            run.streams.append(stream)
        return run

    def head(self, stream: dict, at: int, h: int, facts: dict, hidden: torch.Tensor) -> dict[str, torch.Tensor]:
        asks, answers = (sum(stream[part] for part in facts[f"{side}_reads"]) for side in ("query", "key"))
        w_q, w_k, w_v, w_o = (self.tensors[f"layers.{at}.w_{name}"][h] for name in "qkvo")
        q, k, v = asks @ w_q, answers @ w_k, answers @ w_v
        scores = q @ k.T
        scaled = (scores / math.sqrt(q.shape[1])).masked_fill(hidden, -math.inf)
        weights = torch.softmax(scaled, dim=1)
        output = weights @ v
        return {
            "q": q, "k": k, "v": v, "scores": scores, "scaled": scaled, "weights": weights, "output": output,
            "after": output @ w_o,
        }  # fmt: skip

    def waves(self, n: int, d: int) -> torch.Tensor:
        match self.facts["positions"]:
            case "none":
                return torch.zeros(n, d, dtype=torch.float64)
            case "learned":
                return self.tensors["positions"][:n]
        at = torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
        return torch.stack([at.sin(), at.cos()], dim=2).reshape(n, d)

    def logits(self, stream: dict) -> torch.Tensor:
        facts = self.facts["readouts"][0]
        read = sum(stream[part] for part in facts["reads"]) @ self.matrix()
        bias = self.tensors.get(f"{facts['tensor']}_bias")
        return read if bias is None else read + bias

    def matrix(self) -> torch.Tensor:
        name = self.facts["readouts"][0]["tensor"]
        return self.tensors[name].T if name == "embedding" else self.tensors[name]

    def answers(self) -> list[str]:
        return self.facts["readouts"][0]["answers"] or self.facts["vocabulary"]


class Run:
    def __init__(self, model: Model, layers: list, streams: list) -> None:
        self.model, self.layers, self.streams = model, layers, streams

    @property
    def reading(self) -> dict[str, torch.Tensor]:
        layer, head = self.model.facts["reading_head"]
        return self.layers[layer][head]

    def said(self, token: int) -> tuple[list[str], np.ndarray]:
        """The answers at a token, likeliest first, and their probabilities."""
        chances = torch.softmax(self.model.logits(self.streams[-1])[token], dim=0)
        order = torch.argsort(-chances, stable=True)
        return [self.model.answers()[i] for i in order], chances[order].numpy()
