"""Loads drawn from a user's own data."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arguments import as_array
from ..exchange.casting import INT64_MAX
from .distributions import Independent, word_law

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .distributions import LawAndTable

# Most values that a spelling lists; more must come from a file to have a spelling.
MAX_LISTED = 32
# Digits of the hash in a spelling: 64 bits.
HASH_DIGITS = 16


@dataclass(frozen=True)
class Resampled(Independent):
    """Loads drawn with replacement from values that are equally likely.

    Node i takes ``u``, word i of the trial's Philox stream, and its load is
    ``values[u * len(values) >> 64]``.

    It is spelled ``resampled:3-1-4``, or ``resampled:FILE`` with a ``.npy`` or ``.csv`` file, whose
    name may be relative to the current folder. ``spec`` adds ``,sha256=`` and the beginning of the
    hash of the values as little-endian int64. A spelling with a hash is an error if the file has
    other values by now.

    Parameters
    ----------
    values : array_like of int, optional
        Loads of any shape, not negative, numbered in C order. By default they are read from the
        file.
    file : str or Path, optional
        The file with the values, for the spelling.

    Attributes
    ----------
    sha256 : str
        Hash of the values; equal distributions have equal hashes.

    Raises
    ------
    TypeError, ValueError
        If there are no values, or they are not whole numbers or negative.
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
        argument: Any = self.values
        values = _frozen(_checked(_from_file(self.file) if argument is None else argument))
        digest = hashlib.sha256(values.astype("<i8").tobytes()).hexdigest()
        for name, value in {"values": values, "file": str(self.file), "sha256": digest}.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        # Each chunk that is sent to another process has a copy.
        return self.__dict__ | {"values": self.values.astype(self._narrow)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copied and unpickled arrays are writable.
        self.__dict__.update(state, values=_frozen(state["values"].astype(np.int64)))

    @property
    def spec(self) -> str:
        """The command line's spelling; more than 32 values without a file have no spelling."""
        if self.file:
            return f"{self.name}:{self.file},sha256={self.sha256[:HASH_DIGITS]}"
        if len(self.values) <= MAX_LISTED:
            return f"{self.name}:{'-'.join(map(str, self.values.tolist()))}"
        return f"{self.name}:{len(self.values)} values,sha256={self.sha256[:HASH_DIGITS]}"

    @classmethod
    def read(cls, values: str) -> Resampled:
        """Return the distribution whose spelling has this text after its name.

        Errors are those of the class.
        """
        if re.fullmatch(r"\s*\d+(-\d+)*\s*", values, re.ASCII):
            return cls([int(value) for value in values.split("-")])
        file, mark, digest = values.partition(",sha256=")
        if re.fullmatch(r"\d+ values", file.strip()) or not file.strip():
            raise ValueError(f"resampled needs values such as 3-1-4 or a file, got {values!r}")
        law = cls(None, file.strip())
        if mark and not (digest and law.sha256.startswith(digest.strip().lower())):
            raise ValueError(
                f"loads must be the {file.strip()} of sha256 {digest}, got other values, "
                f"of sha256 {law.sha256[:HASH_DIGITS]}"
            )
        return law

    @property
    def _narrow(self) -> np.dtype[Any]:
        """The narrowest unsigned dtype that holds all values."""
        return np.min_scalar_type(self.largest)

    @cached_property
    def largest(self) -> int:
        """The largest possible load."""
        return int(self.values.max())

    def law(self) -> LawAndTable:
        """Return the kernels' law, with the values in the narrowest dtype."""
        return word_law(len(self.values), self.values.astype(self._narrow))


def _from_file(file: Any) -> NDArray[Any]:
    from ..files.formats import read_load_file

    if not str(file):
        raise ValueError("resampled needs values or a file, got neither")
    return read_load_file([file]).loads


def _frozen(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a copy that cannot be made writable, so that the hash stays that of the values."""
    return np.frombuffer(values.tobytes(), dtype=np.int64)


def _checked(loads: Any) -> NDArray[np.int64]:
    """Return values as a flat array of int64, or raise if they are not loads."""
    array = as_array("values", loads)
    if array.size == 0:
        raise ValueError("values must not be empty, got none")
    if array.dtype.kind not in "iu":
        raise TypeError(f"values must be whole numbers, got dtype {array.dtype}")
    if array.min() < 0:
        raise ValueError(f"values must not be negative, got {array.min()}")
    if array.max() > INT64_MAX:
        raise OverflowError(f"values must fit int64, got {array.max()}")
    return array.astype(np.int64, copy=False).reshape(-1)
