"""What can go wrong, as values: each error carries the facts, the one who shows it finds the words."""

from __future__ import annotations

from collections.abc import Mapping


class AttentionError(Exception):
    """The base of every error that `attention_core` raises on purpose."""


class EmptyText(AttentionError):
    """There is no token in the text: it is empty or blank."""

    def __init__(self) -> None:
        super().__init__("the text holds no token: type at least one word")


class TextTooLong(AttentionError):
    """The text has more tokens than the model takes.

    Attributes:
        n: tokens in the text.
        limit: tokens that the model takes.
    """

    def __init__(self, n: int, limit: int) -> None:
        super().__init__(f"the text has {n} tokens and the model takes {limit}: shorten it")
        self.n, self.limit = n, limit


class ShapeMismatch(AttentionError):
    """Two arrays disagree about the length of an axis.

    Attributes:
        axis: the axis' name, for example "key" or "d_head".
        expected: its length by the first array.
        actual: its length in the array that does not fit.
    """

    def __init__(self, axis: str, expected: object, actual: object) -> None:
        super().__init__(f"axis {axis!r}: expected {expected}, got {actual}")
        self.axis, self.expected, self.actual = axis, expected, actual


class UnknownModel(AttentionError):
    """No model of that name.

    Attributes:
        name: what was asked for.
        known: the names in the catalogue.
    """

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        elsewhere = 'a folder\'s path, or the id of a model on the Hugging Face Hub with its owner ("owner/name")'
        super().__init__(f"no model {name!r}: choose one of {', '.join(known)}; or give {elsewhere}")
        self.name, self.known = name, known


class UnsupportedModel(AttentionError):
    """The model, or what was asked of it, cannot be shown.

    Attributes:
        reason: why, and what to do next, as a sentence.
        kind: of reason, for who translates it; "" where it is not about a model's files. Of a folder: "outside",
            "no_config", "no_weights", "no_tokenizer", "pickled", "remote_code", "quantised", "too_large", "damaged",
            "other_vocabulary", "not_text"; of a package: "no_package"; of the Hub: "absent", "gated", "offline"; of
            the model itself: "no_matrices".
        facts: what the sentence is about: file, needed and available (bytes), detail ….
    """

    def __init__(self, reason: str, kind: str = "", **facts: object) -> None:
        super().__init__(reason)
        self.reason, self.kind = reason, kind
        self.facts: Mapping[str, object] = facts


class Cancelled(AttentionError):
    """Loading was stopped by who listens to its progress."""

    def __init__(self) -> None:
        super().__init__("loading was stopped")


class TraceMismatch(AttentionError):
    """A trace does not equal the model's own computation, so it must not be drawn.

    Attributes:
        layer: the first layer that differs; the number of layers for the read-out.
        error: the largest absolute difference.
    """

    def __init__(self, layer: int, error: float) -> None:
        super().__init__(f"layer {layer} differs from the model's own computation by {error:.3g}")
        self.layer, self.error = layer, error


class WeightsOnly(AttentionError):
    """The layer's weights are known and nothing that they were computed from.

    Attributes:
        layer: its number.
    """

    def __init__(self, layer: int) -> None:
        super().__init__(f"layer {layer} holds weights only: there are no q, k and v to compute its steps from")
        self.layer = layer


class UnfitShape(AttentionError):
    """An array of one's own has a shape that stands for nothing here.

    Attributes:
        name: the array's name.
        shape: what was given.
        accepted: the shapes that would do, axis by axis: "(head, query, key)" ….
    """

    def __init__(self, name: str, shape: tuple[int, ...], accepted: tuple[str, ...]) -> None:
        super().__init__(f"{name} has the shape {shape}: give {' or '.join(accepted)}")
        self.name, self.shape, self.accepted = name, shape, accepted


class WhichItem(AttentionError):
    """An array holds a batch, and nobody said which item of it to show.

    Attributes:
        name: the array's name.
        shape: its shape, (layer, item, …).
        n_items: how many items the batch has.
    """

    def __init__(self, name: str, shape: tuple[int, ...], n_items: int) -> None:
        super().__init__(f"{name} {shape} holds a batch: say which item of axis 1, item=0 … {n_items - 1}")
        self.name, self.shape, self.n_items = name, shape, n_items


class UnfitValues(AttentionError):
    """An array of one's own holds something that cannot be shown as a number of attention.

    Attributes:
        name: the array's name.
        found: what it holds, for example "NaN" or "object".
    """

    def __init__(self, name: str, found: str) -> None:
        super().__init__(f"{name} holds {found}")
        self.name, self.found = name, found


class UnreadableArrays(AttentionError):
    """A file is no .npy or .npz of numbers or texts.

    Attributes:
        reason: why, as a sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnfitEdit(AttentionError):
    """A what-if that makes no sense, or none for this model or text.

    Attributes:
        name: the edit's name, a field of `Edits`.
        value: what was asked for.
        accepted: what would do, as a sentence.
    """

    def __init__(self, name: str, value: object, accepted: str) -> None:
        super().__init__(f"{name}={value!r} does not fit: give {accepted}")
        self.name, self.value, self.accepted = name, value, accepted


class UnfitPicture(AttentionError):
    """What was given is no picture that can be read.

    Attributes:
        reason: why, as a sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
