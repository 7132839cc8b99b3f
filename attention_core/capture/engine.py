"""Imports torch. A network made ready: how its factors are had, proven once, then read from any pass.

Ways, in this order: "interface" (the model calls our attention function), "watched" (its products are seen from
outside), "eager" (it gives its weights, nothing else). What none of them reaches is refused.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from attention_core.capture import interface, projections, refusals, watching, weights_only
from attention_core.capture.editing import Changes
from attention_core.capture.later import Later, Shelf
from attention_core.capture.layers import Kept, array, kept, kinds_of, numbers_of, to_layers
from attention_core.capture.recorder import Call, Recorder, current, recording
from attention_core.capture.verifying import compare, difference, verify
from attention_core.edits import EMPTY, Edits
from attention_core.errors import TraceMismatch, UnsupportedModel
from attention_core.trace import LayerTrace, Verification

Inputs = Mapping[str, Any]
# How far a number may lie from the model's own: 32-bit sums in another order, or the rounding of 16-bit numbers.
TOLERANCES = {torch.float32: 1e-4, torch.float64: 1e-4, torch.float16: 1e-2, torch.bfloat16: 6e-2}
ON_SHELF = 2**28  # Bytes of watched biases that are kept once they were worked out.
ALL = range(10**6)
OUTPUTS = ("logits", "last_hidden_state")
ATTENTIONS = {
    "attentions": "self",
    "encoder_attentions": "encoder",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
}


@dataclass(frozen=True, eq=False)
class Pass:
    """One forward pass.

    Attributes:
        layers: every attention layer, in the order of computation; kept: the model's own results, beside them.
        ids: the token ids that entered an embedding table, in order; output: what the model returned.
    """

    layers: tuple[LayerTrace, ...]
    kept: tuple[Kept, ...]
    ids: tuple[tuple[int, ...], ...]
    output: Any

    def stack(self, kind: str) -> tuple[LayerTrace, ...]:
        return tuple(layer for layer in self.layers if layer.kind == kind)

    def check(self, tolerance: float, dtype: str = "") -> Verification:
        return verify(self.layers, self.kept, tolerance, dtype)


@dataclass(eq=False)
class Engine:
    """A network in evaluation mode, its attention set to be recorded. Passes change nothing in it.

    Attributes:
        net: the model; method: "interface", "watched" or "eager"; tolerance: for its number type.
        largest_difference: of any head's weights from the model's eager ones, when it was made ready; None where it
            gives no such weights.
        numbers: each attention call's layer number, in the order in which a pass makes them.
    """

    net: PreTrainedModel
    method: str = ""
    tolerance: float = 1e-4
    largest_difference: float | None = None
    numbers: tuple[int, ...] = ()
    _names: dict[int, str] = field(default_factory=dict, repr=False)
    _shelf: Shelf = field(default_factory=lambda: Shelf(ON_SHELF), repr=False)

    @property
    def dtype(self) -> str:
        """The type of the numbers that the network computes with: "float32" …."""
        return str(self.net.dtype).removeprefix("torch.")

    def run(self, inputs: Inputs, full: bool = False, whole: Container[int] = (), edits: Edits = EMPTY) -> Pass:
        """One forward pass with everything noted; `full` keeps every row of what the model computed, not eight.

        `edits` hold where the way is "interface"; tokens are fed in the order in which they are given.
        A watched layer's bias is worked out now for the calls `whole`, by their numbers, and later for the others.
        """
        recorder, output = self._recorded(inputs, full, whole, edits)
        ids = tuple(tuple(one.flatten().tolist()) for one in recorder.ids)
        if self.method == "eager":
            layers = weights_only.layers(eager_weights(output))
            return Pass(layers, tuple(map(weights_only.kept, layers)), ids, output)
        names = [self._names[id(call.module)] for call in recorder.calls]
        kinds = kinds_of(names, bool(getattr(self.net.config, "is_encoder_decoder", False)))
        layers, own = to_layers(recorder.calls, kinds, numbers_of(names, kinds)), tuple(map(kept, recorder.calls))
        if self.method == "watched":
            biased = partial(self._biased, inputs)
            layers = tuple(map(biased, range(len(own)), layers, recorder.calls, own))
        return Pass(layers, own, ids, output)

    def plain(self, inputs: Inputs, **more: Any) -> Any:
        """One forward pass with nothing noted."""
        with torch.no_grad():
            return self.net(**inputs, **more)

    def _biased(self, inputs: Inputs, number: int, layer: LayerTrace, call: Call, own: Kept) -> LayerTrace:
        """A watched layer with its bias: whole, or the rows that are known and the others when they are asked for."""
        rows = call.bias_rows
        if rows is None or (call.bias is None and not watching.has_bias(call.module)):
            return layer
        shape = (layer.n_heads, *layer.allowed.shape)
        known = np.zeros((shape[0], len(rows), shape[2]), np.float32) if call.bias is None else array(call.bias[0])
        if len(rows) == shape[1]:
            return replace(layer, bias=known)
        make = partial(self._bias, inputs, number, layer, own)
        return replace(layer, bias=cast(np.ndarray, Later(shape, rows, known, make, self._shelf)))

    def _bias(self, inputs: Inputs, number: int, layer: LayerTrace, own: Kept) -> np.ndarray:
        """(head, query, key) the bias of one layer, by the same pass again: held against what the first one left.

        Raises:
            TraceMismatch: the passes differ.
        """
        seen = self.run(inputs, whole=(number,)).layers[number]
        found = seen.bias if seen.bias is not None else np.zeros((seen.n_heads, *seen.allowed.shape), np.float32)
        pairs = [(getattr(seen, name), getattr(layer, name)) for name in ("q", "k", "v")]
        away = [difference(again, first) for again, first in pairs]
        away += [float("inf")] * (not np.array_equal(seen.allowed, layer.allowed))
        away += [compare(seen.at_rows(own.rows), own)[0]]
        if not max(away) <= self.tolerance:
            raise TraceMismatch(layer.index, max(away))
        return found

    def _recorded(
        self, inputs: Inputs, full: bool, whole: Container[int] = (), edits: Edits = EMPTY
    ) -> tuple[Recorder, Any]:
        recorder = Recorder(full=full, whole=whole, changes=Changes(edits, self.numbers))
        seeing = watching.Watcher(recorder) if self.method == "watched" else nullcontext()
        with recording(recorder), seeing:
            more = {"output_attentions": True} if self.method == "eager" else {}
            return recorder, self.plain(inputs, **more)


def prepare(net: PreTrainedModel, probe: Inputs) -> Engine:
    """Set the network up to be recorded, and hold it against itself on `probe` (eight tokens or more, one sequence).

    Raises:
        UnsupportedModel: it has no attention matrices, or none that can be shown.
        TraceMismatch: what is recorded differs from its eager attention.
    """
    net.eval().requires_grad_(False)
    for module in net.modules():
        if isinstance(module, PreTrainedModel):
            module.config.use_cache = False  # A cache would hold every key twice, and sliding ones drop some.
    refusals.before(net)
    engine = Engine(net, tolerance=max(TOLERANCES.get(p.dtype, 1e-4) for p in net.parameters()))
    engine._names = {id(module): name for name, module in net.named_modules()}
    wanted, reference = _eager(net, probe)
    _choose(engine, probe, wanted)
    for table in (module for module in net.modules() if isinstance(module, nn.Embedding)):
        table.register_forward_pre_hook(_note_ids)
    engine.largest_difference = _prove(engine, probe, wanted, reference)
    return engine


def eager_weights(output: Any) -> dict[str, list[Tensor]]:
    """What the model returned as weights, by stack; layers without attention left out, and what are no weights."""
    found = {}
    for name, kind in ATTENTIONS.items():
        given = getattr(output, name, None)
        own = [one for one in given or () if isinstance(one, Tensor) and _are_weights(one)]
        if own:
            found[kind] = own
    return found


def _are_weights(tensor: Tensor) -> bool:
    # SqueezeBERT returns its scores under the name of weights.
    return bool((tensor >= 0).all() and (tensor.float().sum(-1) < 1.05).all())


def first_output(output: Any) -> Tensor:
    """The model's answer: logits, or its last hidden states."""
    for name in OUTPUTS:
        if isinstance(getattr(output, name, None), Tensor):
            return getattr(output, name)
    return next(one for one in output.values() if isinstance(one, Tensor))


def _eager(net: PreTrainedModel, probe: Inputs) -> tuple[dict[str, list[Tensor]], Tensor]:
    net.set_attn_implementation("eager")
    if net.config._attn_implementation != "eager":
        raise UnsupportedModel("a model that chooses its attention once must be made with attn_implementation='eager'")
    with torch.no_grad():
        try:
            output = net(**probe, output_attentions=True)
        except (TypeError, ValueError, NotImplementedError):  # Some models know no such argument.
            output = net(**probe)
    return eager_weights(output), first_output(output)


def _choose(engine: Engine, probe: Inputs, wanted: Mapping[str, list[Tensor]]) -> None:
    """The first way that yields as many layers as the model has."""
    n_layers = sum(map(len, wanted.values()))
    interface.register()
    engine.net.set_attn_implementation(interface.NAME)
    engine.method = "interface"
    calls = _discover(engine, probe)
    if not calls or len(calls) < n_layers:
        # The name is accepted and ignored by models that bypass the interface: only the calls show it.
        engine.net.set_attn_implementation("eager")
        engine.method = "watched"
        watching.hook(engine.net)
        calls = _discover(engine, probe)
    if not calls or len(calls) < n_layers:
        refusals.without_matrices(engine.net, n_layers, wanted)
        engine.method = "eager"


def _discover(engine: Engine, probe: Inputs) -> list[Call]:
    with projections.watching_linears(engine.net) as seen:
        calls = engine._recorded(probe, full=True, whole=ALL)[0].calls
    found: dict[int, None] = {}
    for call in calls:
        if id(call.module) in found or len(call.q) != 1:
            continue
        found[id(call.module)] = None
        projections.hook(call.module, projections.find(engine._names[id(call.module)], call, seen))
    return calls


def _prove(engine: Engine, probe: Inputs, wanted: Mapping[str, list[Tensor]], reference: Tensor) -> float | None:
    """The largest difference of any head from eager attention; and the output is what it is without recording."""
    seen = engine.run(probe, full=True)
    engine.numbers = tuple(layer.index for layer in seen.layers)
    silent = first_output(engine.plain(probe))
    if not torch.equal(first_output(seen.output), silent):
        raise TraceMismatch(len(seen.layers), float((first_output(seen.output) - silent).abs().max()))
    away = difference(silent.float().numpy(), reference.float().numpy())
    if not away <= 10 * engine.tolerance:  # Layer upon layer, rounding adds up.
        raise TraceMismatch(len(seen.layers), away)
    found = [
        (layer.index, _from_eager(layer, weights[0].float().numpy()))
        for kind, expected in wanted.items()
        for layer, weights in zip(seen.stack(kind), expected, strict=True)
    ]
    for index, away in found:
        if not away <= engine.tolerance:
            raise TraceMismatch(index, away)
    verification = seen.check(engine.tolerance)
    if not verification.passed:
        raise TraceMismatch(verification.layer, verification.largest_difference)
    return max((away for _, away in found), default=None)


def _from_eager(layer: LayerTrace, weights: np.ndarray) -> float:
    if weights.shape != (layer.n_heads, *layer.allowed.shape):
        raise UnsupportedModel(f"its weights have the shape {weights.shape}, which is not one matrix per head")
    seen = layer.allowed.any(axis=1)
    heads = (difference(layer.weights(h)[seen], weights[h][seen]) for h in range(layer.n_heads))
    return max(heads)


def _note_ids(_: nn.Module, args: tuple[Tensor, ...]) -> None:
    recorder = current()
    ids = args[0] if args else None
    if recorder is not None and isinstance(ids, Tensor) and not ids.is_floating_point():
        recorder.ids.append(ids)
