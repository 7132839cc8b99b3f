"""The transformer that every taught model is: small enough that every number fits on a screen.

    X = E[tokens] + P                            a word and its place
    A = softmax(mask(Q Kᵀ / √d_head))            who looks where; Q, K, V: X (and the notes on it) by matrices
    Δ = Σ_heads A V W_O                          what is written: onto the word, or beside it
    logits = stream · R                          what each token answers

The formula of attention is equation 1 of Vaswani et al. (2017), "Attention Is All You Need"; P is their section 3.5.
No LayerNorm; an MLP and learned positions only where the options ask for them. The stream has named parts, each d_model
wide: "word", and where layers write beside it "note" and "answer" (see `Options.layers`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attention_core.teach.runs import Layer, Options, Readout

__all__ = ["Forward", "Options", "Readout", "Taught", "positions"]

N_OFFSETS = 64  # A sentence in training may begin as late as this.


class Forward(NamedTuple):
    """What one pass computes: the answers by read-out; by layer the scaled scores and the attention weights."""

    logits: Mapping[str, Float[Tensor, "batch token answer"]]
    weights: tuple[Float[Tensor, "batch head query key"], ...]
    scaled: tuple[Float[Tensor, "batch head query key"], ...]


class Attention(nn.Module):
    """One layer: every token asks (q), every token offers itself (k) and hands something over (v)."""

    place: Layer

    def __init__(self, options: Options, place: Layer, generator: torch.Generator) -> None:
        super().__init__()
        heads, wide, narrow = options.n_heads, options.d_model, options.d_head
        value_std = 1 / math.sqrt(wide)
        self.place = place

        def matrix(rows: int, columns: int, std: float) -> nn.Parameter:
            if options.twin_heads:
                return nn.Parameter(_draw((1, rows, columns), std, generator).repeat(heads, 1, 1))
            return nn.Parameter(_draw((heads, rows, columns), std, generator))

        # All four are drawn before any is shared, so that models that share begin like those that do not.
        self.w_q = matrix(wide, narrow, options.score_std)
        self.w_k = matrix(wide, narrow, options.score_std)
        self.w_v = matrix(wide, narrow, value_std)
        self.w_o = matrix(narrow, wide, value_std)
        if options.share == "qk":
            self.w_k = self.w_q
        if options.share == "kv":
            self.w_v = self.w_k
        if options.mlp:
            self.mlp_in = nn.Parameter(_draw((wide, options.mlp), value_std, generator))
            self.mlp_in_bias = nn.Parameter(torch.zeros(options.mlp))
            self.mlp_out = nn.Parameter(_draw((options.mlp, wide), 1 / math.sqrt(options.mlp), generator))
            self.mlp_out_bias = nn.Parameter(torch.zeros(wide))

    def forward(
        self, stream: Mapping[str, Tensor], allowed: Bool[Tensor, "batch 1 #query key"]
    ) -> tuple[dict[str, Tensor], Float[Tensor, "batch head query key"], Float[Tensor, "batch head query key"]]:
        """Attend where it is `allowed`; return the stream with what was written, the weights, the scaled scores."""
        asks, answers = _read(stream, self.place.query_reads), _read(stream, self.place.key_reads)
        q = asks.unsqueeze(1) @ self.w_q  # (batch, 1, query, d_model) @ (head, d_model, d_head)
        k = answers.unsqueeze(1) @ self.w_k  # (batch, head, key, d_head)
        v = answers.unsqueeze(1) @ self.w_v
        scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (batch, head, query, key)
        weights = scaled.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        written = (weights @ v @ self.w_o).sum(dim=1)  # heads add up: (batch, query, d_model)
        written = self._with_mlp(stream, written)
        before = stream.get(self.place.writes)
        return {**stream, self.place.writes: written if before is None else before + written}, weights, scaled

    def _with_mlp(self, stream: Mapping[str, Tensor], written: Float[Tensor, "batch token d_model"]) -> Tensor:
        if not hasattr(self, "mlp_in"):
            return written
        seen = _read(stream, self.place.query_reads) + written  # All that the queries read, and the news.
        if self.place.writes in stream and self.place.writes not in self.place.query_reads:
            seen = seen + stream[self.place.writes]
        return written + (seen @ self.mlp_in + self.mlp_in_bias).relu() @ self.mlp_out + self.mlp_out_bias


class Taught(nn.Module):
    """The whole model. Its parameters' names are the names of the tensors in the file.

    Args:
        table: word vectors that stay as they are, (n_words, d_model); None: embeddings are learned.
    """

    options: Options
    readouts: tuple[Readout, ...]
    waves: Tensor

    def __init__(
        self,
        options: Options,
        n_words: int,
        readouts: Sequence[Readout],
        seed: int = 0,
        table: Float[Tensor, "word d_model"] | None = None,
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.options, self.readouts = options, tuple(readouts)
        drawn = _draw((n_words, options.d_model), options.embedding_std, generator) if table is None else table
        self.embedding = nn.Parameter(drawn, requires_grad=table is None)
        if options.positions == "learned":
            places = (options.max_tokens, options.d_model)
            self.positions = nn.Parameter(_draw(places, options.embedding_std, generator))
        self.layers = nn.ModuleList(Attention(options, place, generator) for place in options.layers())
        for readout in self.readouts:
            self._add_readout(readout, n_words, generator)
        waves = positions(torch.arange(options.max_tokens + N_OFFSETS), options.d_model)
        self.register_buffer("waves", waves, persistent=False)

    def _add_readout(self, readout: Readout, n_words: int, generator: torch.Generator) -> None:
        if readout.tensor == "embedding":
            return
        n_answers = n_words if readout.answers is None else len(readout.answers)
        drawn = _draw((self.options.d_model, n_answers), 1 / math.sqrt(self.options.d_model), generator)
        setattr(self, readout.tensor, nn.Parameter(drawn))
        if readout.bias:
            setattr(self, f"{readout.tensor}_bias", nn.Parameter(torch.zeros(n_answers)))

    def forward(
        self,
        tokens: Int[Tensor, "batch token"],
        real: Bool[Tensor, "batch token"] | None = None,
        offset: Int[Tensor, " batch"] | None = None,
        hidden: Bool[Tensor, "batch token"] | None = None,
        noise: Float[Tensor, "batch token d_model"] | None = None,
        word_noise: Float[Tensor, "batch token d_model"] | None = None,
        candidates: Int[Tensor, " candidate"] | None = None,
    ) -> Forward:
        """Answer every token of every sentence.

        Args:
            real: False on padding (on the right). offset: the first token's place.
            hidden: tokens that the first token may not see in the last layer; noise: added to what that layer writes
                (both in training only). word_noise: added to the words before the first layer (in training only).
            candidates: the words whose logits a read-out from the word vectors gives, in this order; None: all.
        """
        real = torch.ones_like(tokens, dtype=torch.bool) if real is None else real
        stream: dict[str, Tensor] = {"word": self._embed(tokens, offset)}
        if word_noise is not None:
            stream["word"] = stream["word"] + word_noise
        weights, scaled = [], []
        logits: dict[str, Tensor] = {}
        for index, layer in enumerate(self.layers):
            is_last = index == len(self.layers) - 1
            allowed = self._allowed(index, real, hidden if is_last else None)
            stream, looks, scores = layer(stream, allowed)
            if noise is not None and is_last:
                writes = self.options.layers()[index].writes
                stream[writes] = stream[writes] + noise
            weights.append(looks)
            scaled.append(scores)
            logits |= {
                each.tensor: self._answer(each, stream, candidates) for each in self.readouts if each.after == index
            }
        return Forward(logits, tuple(weights), tuple(scaled))

    def _words(self, numbers: Int[Tensor, " candidate"] | None) -> Float[Tensor, "candidate d_model"]:
        return self.embedding if numbers is None else self.embedding[numbers]

    def _embed(self, tokens: Int[Tensor, "batch token"], offset: Int[Tensor, " batch"] | None) -> Tensor:
        words = self.embedding[tokens]  # (batch, token, d_model)
        if self.options.positions == "none":
            return words
        places = torch.arange(tokens.shape[1]).expand(tokens.shape)
        places = places if offset is None else places + offset[:, None]
        return words + (self.positions if self.options.positions == "learned" else self.waves)[places]

    def _allowed(
        self, index: int, real: Bool[Tensor, "batch token"], hidden: Bool[Tensor, "batch token"] | None
    ) -> Bool[Tensor, "batch 1 #query key"]:
        allowed = real[:, None, None, :]
        window, n = self.options.window(index), real.shape[1]
        away = torch.arange(n)[:, None] - torch.arange(n)
        if self.options.causal:
            allowed = allowed & (away >= 0)
        if window is not None:
            # Padding far from every word may see itself: a row without any key would have no softmax.
            allowed = (allowed & (away.abs() <= window)) | (away == 0)
        if hidden is not None:
            first = torch.arange(n) == 0
            allowed = allowed & ~(first[:, None] & hidden[:, None, None, :])
        return allowed

    def _answer(
        self, readout: Readout, stream: Mapping[str, Tensor], candidates: Int[Tensor, " candidate"] | None
    ) -> Float[Tensor, "batch token answer"]:
        matrix = self._words(candidates).T if readout.tensor == "embedding" else getattr(self, readout.tensor)
        logits = _read(stream, readout.reads) @ matrix
        return logits + getattr(self, f"{readout.tensor}_bias") if readout.bias else logits


def positions(places: Int[Tensor, "*batch token"], d_model: int) -> Float[Tensor, "*batch token d_model"]:
    """Sine (even columns) and cosine (odd columns) of a place at wavelengths from 2π to 10000 · 2π."""
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)  # (⌈d_model / 2⌉,)
    angles = places[..., None] * rates  # (batch, token, ⌈d_model / 2⌉)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)[..., :d_model]


def _read(stream: Mapping[str, Tensor], parts: Sequence[str]) -> Float[Tensor, "batch token d_model"]:
    return reduce(add, (stream[part] for part in parts))


def _draw(size: tuple[int, ...], std: float, generator: torch.Generator) -> Tensor:
    return torch.randn(size, generator=generator) * std
