"""Types of figures: a number of one network or program, an array of a batch's shape for a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .quantities import Number

Whole = int | NDArray[np.int64]
Real = float | NDArray[np.float64]
Flag = bool | NDArray[np.bool_]
# Units of load: whole for integer loads, real for floats.
Units = Whole | Real
# What not every program has: None, and hidden by the mask of a batch.
Masked = np.ma.MaskedArray[Any, Any]
Optimum = Number | None | Masked
Position = int | None | Masked
