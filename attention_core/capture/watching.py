"""Imports torch. Attention seen from outside, for models that do not call the library's attention function.

Inside attention modules, every product, softmax and product of the softmax is followed:

    scores = q kᵀ   →   sums, factors, masks   →   softmax   →   weights · v

The scale is the product of the plain factors on the way; whatever else was added is the bias, found as the softmax's
input − scores · scale. It holds n² numbers per head, so a pass keeps it whole for the layer that is asked for only, and
eight rows of it for the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention_core.capture.layers import FORBIDDEN
from attention_core.capture.projections import with_inputs
from attention_core.capture.recorder import Call, Recorder, current, few, rows_of

LIMIT = 2048  # Tokens: such models hold several n × n tensors of every head of a layer by themselves.
PRODUCTS = ("matmul", "__matmul__", "bmm", "baddbmm", "einsum")
FACTORS = {"mul": 1, "__mul__": 1, "__rmul__": 1, "mul_": 1, "__imul__": 1}
FACTORS |= {"div": -1, "__truediv__": -1, "true_divide": -1, "div_": -1, "__itruediv__": -1}
# What leaves a score a score, and a weight a weight.
PASSING = {"add", "__add__", "__radd__", "add_", "__iadd__", "sub", "__sub__", "masked_fill", "masked_fill_", "where"}
PASSING |= {"view", "reshape", "to", "float", "type", "type_as", "contiguous", "dropout", "clamp", "max", "squeeze"}


@dataclass(frozen=True, eq=False)
class Product:
    """A tensor on its way: q and k of the product it came from, and the factor so far."""

    q: Tensor
    k: Tensor
    scale: float
    tensor: Tensor  # Held so that its identity stays its own.


@dataclass(frozen=True, eq=False)
class Softmax:
    """Weights on their way to v, with the product that they came from and what entered the softmax."""

    product: Product
    entered: Tensor
    tensor: Tensor


class Watcher(TorchFunctionMode):
    """Follows one thread's tensor operations while it is entered."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._scores: dict[int, Product] = {}
        self._weights: dict[int, Softmax] = {}
        self._mask: Tensor | None = None

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if self._recorder.modules and isinstance(result, Tensor):
            self._follow(getattr(func, "__name__", ""), args, kwargs or {}, result)
        return result

    def _follow(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Tensor) -> None:
        if name in PRODUCTS:
            self._product(name, args, kwargs, result)
        elif name == "softmax" and id(args[0]) in self._scores:
            self._weights[id(result)] = Softmax(self._scores[id(args[0])], args[0], result)
        elif name in FACTORS or name in PASSING:
            self._pass_on(name, args, result)

    def _product(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Tensor) -> None:
        left, right, scale = _operands(name, args, kwargs)
        if left is None or right is None:
            return
        weights = self._weights.get(id(left))
        if weights is not None:
            self._finish(weights, left, right, _heads_first(name, args, result))
        elif left.ndim >= 3 and left.shape[-1] == right.shape[-2]:
            self._scores[id(result)] = Product(left, right.transpose(-1, -2), scale, result)

    def _pass_on(self, name: str, args: tuple[Any, ...], result: Tensor) -> None:
        for one in args[:3]:
            product = self._scores.get(id(one))
            if product is not None:
                scale = product.scale * _factor(name, args)
                self._scores[id(result)] = replace(product, scale=scale, tensor=result)
                return
            weights = self._weights.get(id(one))
            if weights is not None:
                self._weights[id(result)] = replace(weights, tensor=result)
                return

    def _finish(self, weights: Softmax, left: Tensor, v: Tensor, output: Tensor) -> None:
        product = weights.product
        q, k, v = (_batched(one) for one in (product.q, product.k, v))
        entered, output = _batched(weights.entered), _batched(output).transpose(1, 2)
        recorder, module, n = self._recorder, self._recorder.modules[-1], q.shape[2]
        mask = self._shared((entered > FORBIDDEN).any(dim=1, keepdim=True))
        whole = len(recorder.calls) in recorder.whole
        bias_rows, rows = np.arange(n) if whole else few(n), recorder.rows(n)
        bias = _added(q, k, entered, mask, product.scale, bias_rows)
        if whole and bias is not None:
            object.__setattr__(module, "_adds_a_bias", True)
        kept = (module, q, k, v, mask, bias, product.scale, None, None, rows, rows_of(output, rows), bias_rows)
        recorder.add(with_inputs(Call(*kept), recorder))
        self._scores.clear()
        self._weights.clear()

    def _shared(self, mask: Tensor) -> Tensor:
        """The mask before where it is the same: one is held for all layers."""
        if self._mask is None or not torch.equal(self._mask, mask):
            self._mask = mask
        return self._mask


def has_bias(module: nn.Module) -> bool:
    """Whether a whole layer of this module was ever seen to add one."""
    return getattr(module, "_adds_a_bias", False)


def hook(net: nn.Module) -> None:
    """From now on this thread's recorder knows which attention module is running."""
    for name, module in net.named_modules():
        if re.search(r"att", name.rpartition(".")[2] + type(module).__name__, re.IGNORECASE):
            module.register_forward_pre_hook(_enter)
            module.register_forward_hook(_leave, always_call=True)


def _enter(module: nn.Module, _: object) -> None:
    recorder = current()
    if recorder is not None:
        recorder.modules.append(module)


def _leave(module: nn.Module, _: object, __: object) -> None:
    recorder = current()
    if recorder is not None and module in recorder.modules:
        recorder.modules.pop()


def _operands(
    name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Tensor | None, Tensor | None, float]:
    """What is multiplied, heads before rows, and by which factor."""
    if name == "baddbmm":
        given = [*args[1:], *(kwargs[key] for key in ("batch1", "batch2") if key in kwargs)]
        return given[0], given[1], float(kwargs.get("alpha", 1))
    if name != "einsum":
        return args[0], args[1], 1.0
    if args[0] == "ibnd,jbnd->bnij":
        return args[1].permute(1, 2, 0, 3), args[2].permute(1, 2, 3, 0), 1.0
    if args[0] == "bnij,jbnd->ibnd":
        return args[1], args[2].permute(1, 2, 0, 3), 1.0
    return None, None, 1.0


def _heads_first(name: str, args: tuple[Any, ...], result: Tensor) -> Tensor:
    return result.permute(1, 2, 0, 3) if name == "einsum" and args[0].endswith("ibnd") else result


def _factor(name: str, args: tuple[Any, ...]) -> float:
    power = FACTORS.get(name)
    by = args[1] if len(args) > 1 else None
    if power is None or (isinstance(by, Tensor) and by.numel() != 1):
        return 1.0
    return 1.0 if by is None else float(by) ** power


def _batched(tensor: Tensor) -> Tensor:
    """(1, head, row, column): some models fold batch and heads into one axis, which is the same for one text."""
    return tensor if tensor.ndim == 4 else tensor.unsqueeze(0)


def _added(q: Tensor, k: Tensor, entered: Tensor, mask: Tensor, scale: float, rows: np.ndarray) -> Tensor | None:
    """(1, head, row, key) what stands in the softmax's input beside scores · scale at these query rows, or None where
    nothing does."""
    at = torch.tensor(rows)
    group, allowed = q.shape[1] // k.shape[1], mask[0, 0, at]
    bias, size = torch.zeros(1, q.shape[1], len(rows), k.shape[2]), 1.0
    for h in range(q.shape[1]):  # One head's at a time: all heads' are large in double precision.
        own = entered[0, h, at].double()
        seen = own > FORBIDDEN
        scores = q[0, h, at].double() @ k[0, h // group].double().mT
        # In a cell that another head may see, this head's mask stays what it is: a very large negative bias.
        bias[0, h] = torch.where(seen, own - scores * scale, torch.where(allowed, own, 0.0)).float()
        size = max(size, float(torch.where(seen, own, 0.0).abs().max()))
    return bias if float(bias.abs().max()) > 1e-5 * size else None
