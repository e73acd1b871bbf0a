"""Arrays from ``.npy`` files."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_npy(path: Path) -> NDArray[Any]:
    """Map a ``.npy`` file into memory; nothing pickled is ever loaded.

    Raises
    ------
    ValueError
        If it is no ``.npy`` file, cut off, or holds Python objects.
    """
    try:
        with path.open("rb") as stream:
            magic = stream.read(6)
        if magic != b"\x93NUMPY":
            raise ValueError("it does not begin as one")
        with np.errstate(over="raise"):
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (SyntaxError, TokenError, TypeError):
        raise ValueError(f"{path} is no readable .npy file: its header is broken") from None
    except (ValueError, EOFError, ArithmeticError) as error:
        reason = str(error).partition("\n")[0]
        if "greater than file size" in reason or isinstance(error, ArithmeticError):
            reason = "it is cut off"
        if " object at 0x" in reason:
            # NumPy's message shows a node of the header's syntax tree.
            reason = "its header is broken"
        raise ValueError(f"{path} is no readable .npy file: {reason}") from None
