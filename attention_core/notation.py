"""Numbers as people write them: "3/4", "0,75", "−1.5", "√2", "3/sqrt(2)", "e^1.5/(e^1.5 + e)", "67%", "-inf", "2.5e-3".

sum     = product (("+" | "−") product)*
product = power (("·" | "/")? power)*            2√3 and 2(1 + 3) are products too
power   = ("+" | "−") power | atom "%"? ("^" power)?
atom    = number | "e" | "π" | "∞" | ("sqrt" | "√" | "exp") atom | "(" sum ")"

A number may end in a power of ten, as calculators write it: 2.5e-3, without a space; "2e - 1" is 2 · e − 1.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

MAX_CHARACTERS = 120

_SAME = str.maketrans({"−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "。": "."})
_TOKEN = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|sqrt|exp|infinity|inf|oo|pi|[√∞πe()+\-*/^%]")
_PLAIN = re.compile(r"[+-]?(\d+(?:[.,]\d*)?|[.,]\d+)%?")
_MIXED = re.compile(r"([+-]?)(\d+) (\d+)/(\d+)")
_NAMES = {"e": math.e, "pi": math.pi, "π": math.pi, **dict.fromkeys(("inf", "infinity", "oo", "∞"), math.inf)}
_FUNCTIONS: dict[str, Callable[[float], float]] = {"sqrt": math.sqrt, "√": math.sqrt, "exp": math.exp}


class Unreadable(ValueError):
    """What was typed is no number."""


@dataclass(frozen=True)
class Number:
    """What was typed.

    Attributes:
        value: as a number, −∞ and ∞ included.
        digits: how many decimals were written, or None where it was not written as a decimal, but exactly.
    """

    value: float
    digits: int | None


def read(text: str) -> Number:
    """The number that `text` stands for. A comma is a decimal point; Chinese full-width signs are read as well.

    Raises:
        Unreadable: it stands for none.

    >>> read("3/4").value, read("0,75").value, read("1 1/2").value, read("−∞").value
    (0.75, 0.75, 1.5, -inf)
    >>> read("67%")
    Number(value=0.67, digits=2)
    """
    line = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).translate(_SAME)).strip().lower()
    if not line or len(line) > MAX_CHARACTERS:
        raise Unreadable(text)
    mixed = _MIXED.fullmatch(line)
    if mixed is not None:
        sign, whole, above, below = mixed.groups()
        line = f"{sign}({whole} + {above}/{below})"
    try:
        value = _Reader(line.replace(",", ".")).all()
    except (ArithmeticError, ValueError, RecursionError):
        raise Unreadable(text) from None
    if math.isnan(value):
        raise Unreadable(text)
    return Number(value, _digits(line.replace(" ", "")))


def _digits(line: str) -> int | None:
    if _PLAIN.fullmatch(line) is None:
        return None
    _, _, decimals = line.rstrip("%").replace(",", ".").partition(".")
    return len(decimals) + (2 if line.endswith("%") else 0)


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, line: str) -> None:
        self.tokens = _TOKEN.findall(line)
        if "".join(self.tokens) != line.replace(" ", ""):
            raise Unreadable(line)

    def all(self) -> float:
        value = self.sum()
        if self.tokens:
            raise Unreadable(self.tokens[0])
        return value

    def take(self, *wanted: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def sum(self) -> float:
        value = self.product()
        while sign := self.take("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        return value

    def product(self) -> float:
        value = self.power()
        while self.tokens and self.tokens[0] not in ("+", "-", ")"):
            value = value / self.power() if self.take("/") else value * self._factor()
        return value

    def _factor(self) -> float:
        if self.take("*") is None and self.tokens[0][0] in "0123456789.":
            raise Unreadable(self.tokens[0])  # "1.2.3" and "2 3" are slips of the pen, not products.
        return self.power()

    def power(self) -> float:
        if sign := self.take("+", "-"):
            return -self.power() if sign == "-" else self.power()
        value = self.atom()
        if self.take("%"):
            value /= 100
        return math.pow(value, self.power()) if self.take("^") else value

    def atom(self) -> float:
        if not self.tokens:
            raise Unreadable("")
        token = self.tokens.pop(0)
        if token in _NAMES:
            return _NAMES[token]
        if token in _FUNCTIONS:
            return _FUNCTIONS[token](self.atom())
        if token == "(":
            value = self.sum()
            if self.take(")") is None:
                raise Unreadable(token)
            return value
        return float(token)
