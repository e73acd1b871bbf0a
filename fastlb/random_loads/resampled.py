"""Loads drawn from a user's own data."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..exchange.casting import INT64_MAX
from .distributions import Independent, scaled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .distributions import Drawing

# So many values are spelled out; more must come from a file to have a spelling.
SPELLED = 32
# Digits of the hash that a spelling holds: 64 bits.
HASH_DIGITS = 16


@dataclass(frozen=True)
class Resampled(Independent):
    """Loads drawn from given values, each equally likely, independently and with replacement.

    Node i takes ``u``, word i of the trial's Philox stream, and its load is
    ``values[u * len(values) >> 64]``.

    It is spelled ``resampled:3-1-4``, or ``resampled:FILE``, a ``.npy`` or ``.csv`` file; relative
    names start from the folder of the process. ``spec`` adds ``,sha256=`` and the beginning of
    the hash of the values as little-endian int64. A spelling with a hash is refused where the
    file holds other values by now.

    Parameters
    ----------
    values : array_like of int, optional
        Loads, not negative; of any shape, taken in C order. Left out, they are read from the file.
    file : str or Path, optional
        Where they come from, which is what their spelling says.

    Attributes
    ----------
    sha256 : str
        Hash of the values; equal distributions have equal hashes.

    Raises
    ------
    TypeError, ValueError
        If there are no values, they are no whole numbers, or negative.
    OverflowError
        If one does not fit int64.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> Resampled([3, 1, 4]).spec
    'resampled:3-1-4'
    """

    name: ClassVar[str] = "resampled"
    values: NDArray[np.int64] = field(default=None, compare=False, repr=False)  # type: ignore[arg-type]
    file: str = ""
    sha256: str = field(init=False)

    if TYPE_CHECKING:

        def __init__(self, values: ArrayLike | None = None, file: str = "") -> None: ...

    def __post_init__(self) -> None:
        listed: Any = self.values
        values = _frozen(_whole(_from_file(self.file) if listed is None else listed))
        digest = hashlib.sha256(values.astype("<i8").tobytes()).hexdigest()
        for name, value in {"values": values, "file": str(self.file), "sha256": digest}.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        # Every piece of work for another process holds a copy: it travels in few bits.
        return self.__dict__ | {"values": self.values.astype(self._narrow)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copied or unpickled array has forgotten that it is read-only.
        self.__dict__.update(state, values=_frozen(state["values"].astype(np.int64)))

    @property
    def spec(self) -> str:
        """The command line's spelling; without a file, of more than 32 values, a name alone."""
        if self.file:
            return f"{self.name}:{self.file},sha256={self.sha256[:HASH_DIGITS]}"
        if len(self.values) <= SPELLED:
            return f"{self.name}:{'-'.join(map(str, self.values.tolist()))}"
        return f"{self.name}:{len(self.values)} values,sha256={self.sha256[:HASH_DIGITS]}"

    @classmethod
    def read(cls, values: str) -> Resampled:
        """Read what stands behind the name of a spelling; errors as for the class."""
        if re.fullmatch(r"\s*\d+(-\d+)*\s*", values, re.ASCII):
            return cls([int(value) for value in values.split("-")])
        file, marked, digest = values.partition(",sha256=")
        if re.fullmatch(r"\d+ values", file.strip()) or not file.strip():
            raise ValueError(f"resampled needs values such as 3-1-4 or a file, got {values!r}")
        law = cls(None, file.strip())
        if marked and not (digest and law.sha256.startswith(digest.strip().lower())):
            raise ValueError(
                f"loads must be the {file.strip()} of sha256 {digest}, got other values, "
                f"of sha256 {law.sha256[:HASH_DIGITS]}"
            )
        return law

    @property
    def _narrow(self) -> np.dtype[Any]:
        """The unsigned dtype of the fewest bits that holds all values."""
        return np.min_scalar_type(self.largest)

    @cached_property
    def largest(self) -> int:
        """No load is larger."""
        return int(self.values.max())

    def law(self) -> Drawing:
        """Return what the kernels are told: the values in as few bits as hold them all."""
        return scaled(len(self.values), self.values.astype(self._narrow))


def _from_file(file: Any) -> NDArray[Any]:
    from ..files.formats import read_load_file

    if not str(file):
        raise ValueError("resampled needs values or a file, got neither")
    return read_load_file([file]).loads


def _frozen(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a copy that nobody can make writable: the hash stays that of the values."""
    return np.frombuffer(values.tobytes(), dtype=np.int64)


def _whole(loads: Any) -> NDArray[np.int64]:
    """Return values as a flat array of int64, or raise."""
    array = np.asarray(loads)
    if array.size == 0:
        raise ValueError("values must not be empty, got none")
    if array.dtype.kind == "O" and all(type(value) is int for value in array.flat):
        raise OverflowError("values must fit int64, got a larger integer")
    if array.dtype.kind not in "iu":
        raise TypeError(f"values must be whole numbers, got dtype {array.dtype}")
    if array.min() < 0:
        raise ValueError(f"values must not be negative, got {array.min()}")
    if array.max() > INT64_MAX:
        raise OverflowError(f"values must fit int64, got {array.max()}")
    return array.astype(np.int64, copy=False).reshape(-1)
