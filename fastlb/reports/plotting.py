"""The style of plots, and image files that are equal to the byte for equal plots."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from ..extras import extra

# Okabe and Ito's colours, which all kinds of colour vision distinguish, and grey prints too.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#777777"

STYLE = {
    "figure.dpi": 150,
    "figure.figsize": (6.4, 4.0),
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.titlesize": 11,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "savefig.facecolor": "white",
    # Identifiers in SVG files are random without a salt.
    "svg.hashsalt": "fastlb",
}


def new_figure(**options: Any) -> Any:
    """Return a matplotlib figure outside of pyplot, so without windows and global state."""
    return extra("matplotlib.figure").Figure(**options)


def image(draw: Callable[[], Any], suffix: str) -> bytes:
    """Return the figure that ``draw`` returns as a PNG or SVG file, without dates or versions."""
    unstamped = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    with extra("matplotlib").rc_context(STYLE):
        stream = io.BytesIO()
        draw().savefig(stream, format=suffix, metadata=unstamped[suffix])
        return stream.getvalue()
