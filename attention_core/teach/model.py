"""A transformer of two layers, small enough that every number fits on a screen.

    X  = E[tokens] + P                          a word and its place
    A₀ = softmax(X W_Q (X W_K)ᵀ / √d_head)      layer 0: "it" finds the word that describes it
    Δ  = A₀ X W_V W_O                           ... and takes a note
    A₁ = softmax((X + Δ) W_Q (X W_K)ᵀ / √d_head)  layer 1: asks with word and note, is answered by words alone
    O  = A₁ X W_V W_O
    logits = O R                                which word each token stands for

The formula of attention is equation 1 of Vaswani et al. (2017), "Attention Is All You Need", P is their section 3.5.
No biases, no LayerNorm, no MLP. Nothing but layer 1's attention reaches the read-out: O is not added to X.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class Shape(NamedTuple):
    """The sizes of a model: numbers of words, of dimensions per word, of dimensions per head."""

    n_words: int
    d_model: int = 16
    d_head: int = 8
    n_heads: int = 1
    n_layers: int = 2


class Forward(NamedTuple):
    """What one pass computes: the answers, and each layer's attention weights for whoever wants to look."""

    logits: Float[Tensor, "batch token word"]
    weights: tuple[Float[Tensor, "batch head query key"], ...]


class Attention(nn.Module):
    """One layer: every token asks (q), every token offers itself (k) and hands something over (v)."""

    def __init__(self, shape: Shape, score_std: float, value_std: float, generator: torch.Generator) -> None:
        super().__init__()
        heads, wide, narrow = shape.n_heads, shape.d_model, shape.d_head
        self.w_q = _normal((heads, wide, narrow), score_std, generator)
        self.w_k = _normal((heads, wide, narrow), score_std, generator)
        self.w_v = _normal((heads, wide, narrow), value_std, generator)
        self.w_o = _normal((heads, narrow, wide), value_std, generator)

    def forward(
        self,
        asks: Float[Tensor, "batch query d_model"],
        answers: Float[Tensor, "batch key d_model"],
        real: Bool[Tensor, "batch key"],
    ) -> tuple[Float[Tensor, "batch query d_model"], Float[Tensor, "batch head query key"]]:
        """Attend from `asks` to `answers` where these are `real`; return what is written, and the weights."""
        q = asks.unsqueeze(1) @ self.w_q  # (batch, 1, query, d_model) @ (head, d_model, d_head)
        k = answers.unsqueeze(1) @ self.w_k  # (batch, head, key, d_head)
        v = answers.unsqueeze(1) @ self.w_v
        scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (batch, head, query, key)
        weights = scaled.masked_fill(~real[:, None, None, :], -torch.inf).softmax(dim=-1)
        written = (weights @ v @ self.w_o).sum(dim=1)  # heads add up: (batch, query, d_model)
        return written, weights


class TwoHop(nn.Module):
    """The whole model. Its parameters' names are the names of the tensors in the file."""

    def __init__(self, shape: Shape, *, embedding_std: float = 0.3, score_std: float = 0.1, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        value_std = 1 / math.sqrt(shape.d_model)
        self.shape = shape
        self.embedding = _normal((shape.n_words, shape.d_model), embedding_std, generator)
        self.layers = nn.ModuleList(Attention(shape, score_std, value_std, generator) for _ in range(shape.n_layers))
        self.readout = _normal((shape.d_model, shape.n_words), value_std, generator)

    def forward(
        self,
        tokens: Int[Tensor, "batch token"],
        real: Bool[Tensor, "batch token"] | None = None,
        offset: Int[Tensor, " batch"] | None = None,
    ) -> Forward:
        """Answer every token of every sentence. `real` is False on padding; `offset` is the first token's place."""
        real = torch.ones_like(tokens, dtype=torch.bool) if real is None else real
        places = torch.arange(tokens.shape[1]).expand(tokens.shape)
        places = places if offset is None else places + offset[:, None]
        x = self.embedding[tokens] + positions(places, self.shape.d_model)  # (batch, token, d_model)
        note, first = self.layers[0](x, x, real)
        output, second = self.layers[1](x + note, x, real)
        return Forward(output @ self.readout, (first, second))


def positions(places: Int[Tensor, "*batch token"], d_model: int) -> Float[Tensor, "*batch token d_model"]:
    """Sine (even columns) and cosine (odd columns) of a place at wavelengths from 2π to 10000 · 2π."""
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    angles = places[..., None] * rates  # (batch, token, d_model / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


def _normal(size: tuple[int, ...], std: float, generator: torch.Generator) -> nn.Parameter:
    return nn.Parameter(torch.randn(size, generator=generator) * std)
