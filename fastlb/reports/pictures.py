"""Terminal pictures of loads: heat maps of two-dimensional grids, bars of all others."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.color import Color
from rich.style import Style
from rich.text import Text

from ..topologies.grids import Grid
from ..topologies.hexa_cell_topology import HyperHexaCell
from ..topologies.hypercube import Hypercube
from ..topologies.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from rich.console import Console, ConsoleOptions, RenderResult

    from ..topologies.topology import Topology

MAX_ROWS = 32
MAX_BINS = 16
LONGEST_NAME = 16
_GAP = 4
# The ends and quarters of matplotlib's viridis, which looks evenly spaced, to the colour-blind too.
_VIRIDIS = np.array(
    [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], dtype=float
)
_SHADES = " ░▒▓█"
_ASCII_SHADES = " .:-=+*#%@"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Scale:
    """The common scale of all panels, which gives loads a colour, a shade or a length."""

    least: float
    largest: float
    ascii_only: bool
    coloured: bool

    def part(self, load: float) -> float:
        """Return the load's place between the ends of the scale, 0 to 1."""
        span = self.largest - self.least
        return (load - self.least) / span if span > 0 else 0.0

    def style(self, load: float, *, background: bool = False) -> Style:
        """Return the load's colour, as text or behind readable text."""
        if not self.coloured:
            return Style.null()
        # As text the darkest and the brightest would be lost on dark or light terminals.
        part = self.part(load) if background else 0.25 + 0.65 * self.part(load)
        position = part * (len(_VIRIDIS) - 1)
        low = min(int(position), len(_VIRIDIS) - 2)
        red, green, blue = _VIRIDIS[low] + (position - low) * (_VIRIDIS[low + 1] - _VIRIDIS[low])
        colour = Color.from_rgb(red, green, blue)
        if not background:
            return Style(color=colour)
        bright = 0.299 * red + 0.587 * green + 0.114 * blue > 120
        return Style(color="black" if bright else "bright_white", bgcolor=colour)

    def cell(self, load: float, width: int, text: str = "") -> Text:
        """Return a heat map's cell: its text on the load's colour, or a shade without colours."""
        if self.coloured:
            return Text(text.ljust(width), style=self.style(load, background=True))
        shades = _ASCII_SHADES if self.ascii_only else _SHADES
        shade = shades[min(int(self.part(load) * len(shades)), len(shades) - 1)]
        return Text(text or shade * width)

    def bar(self, part: float, width: int, style: Style) -> Text:
        """Return a bar as long as a part of the width."""
        full, rest = divmod(round(part * width * 8), 8)
        if self.ascii_only:
            return Text("#" * (full + (rest >= 4)), style=style)
        return Text("█" * full + (_EIGHTHS[rest] if rest else ""), style=style)


class LoadPicture:
    """One network's loads before and after, on one common scale; a rich renderable.

    Two-dimensional grids are heat maps; where a map does not fit the console, a cell shows
    the largest load of a block of nodes. All others are bars: one a node, or, of more than 32
    nodes, the number of nodes by load.

    Parameters
    ----------
    before, after : arrays of ``topology.size`` loads
    topology : Topology

    Examples
    --------
    >>> from rich.console import Console
    >>> from fastlb import Chain
    >>> Console(width=40).print(LoadPicture(np.array([4, 0]), np.array([2, 2]), Chain(2)))
    node  before            after
       0  ██████████████ 4  ███████ 2
       1  0                 ███████ 2
    """

    def __init__(self, before: NDArray[Any], after: NDArray[Any], topology: Topology) -> None:
        self.topology = topology
        self.is_map = isinstance(topology, Grid) and topology.ndim == 2
        shape = topology.shape if self.is_map else (topology.size,)
        self.panels = {
            "before": np.asarray(before).reshape(shape),
            "after": np.asarray(after).reshape(shape),
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        loads = list(self.panels.values())
        scale = Scale(
            least=float(min(panel.min() for panel in loads)),
            largest=float(max(panel.max() for panel in loads)),
            ascii_only=options.ascii_only,
            coloured=console.color_system is not None and not console.no_color,
        )
        draw = self._heat if self.is_map else self._bars
        for line in draw(scale, options.max_width):
            if not scale.coloured:
                line.rstrip()
            line.no_wrap, line.overflow = True, "crop"
            yield line

    def _heat(self, scale: Scale, width: int) -> Iterator[Text]:
        rows, columns = self.topology.shape
        widest = longest_number(self.panels.values()) + 2 if self.topology.size <= 256 else width
        numbered = rows <= MAX_ROWS and columns * widest <= width
        cell = widest if numbered else 2
        stacked = columns * cell <= width < 2 * columns * cell + _GAP
        room = width if stacked else (width - _GAP) // 2
        blocks = []
        for name, panel in self.panels.items():
            drawn = block_maxima(panel, (MAX_ROWS, max(1, room // cell)))
            lines = [Text(name, style="bold")]
            for row in drawn.tolist():
                texts = [
                    short_number(load).rjust(cell - 1) + " " if numbered else "" for load in row
                ]
                cells = [
                    scale.cell(load, cell, text) for load, text in zip(row, texts, strict=True)
                ]
                lines.append(Text.assemble(*cells))
            blocks.append(lines)
        yield from (
            itertools.chain(blocks[0], [Text()], blocks[1]) if stacked else side_by_side(blocks)
        )
        if scale.coloured or not numbered:
            yield self._legend(scale, drawn.shape)

    def _legend(self, scale: Scale, drawn: tuple[int, ...]) -> Text:
        steps = np.linspace(scale.least, scale.largest, 16 if scale.coloured else 5)
        legend = Text.assemble(short_number(scale.least), " ")
        for load in steps:
            legend.append_text(scale.cell(load, 1))
        legend.append(f" {short_number(scale.largest)}")
        note = block_note(self.topology.shape, drawn)
        return legend.append(f"   {note}" if note else "")

    def _bars(self, scale: Scale, width: int) -> Iterator[Text]:
        if self.topology.size <= MAX_ROWS:
            title, labels = "node", self._addresses()
            values = list(self.panels.values())
            styles = [[scale.style(load) for load in panel.tolist()] for panel in values]
        else:
            title, edges = "load", bins(scale.least, scale.largest, self._whole())
            labels = [f"{short_number(low)} .. {short_number(high)}" for low, high in edges]
            values = [np.array(bin_counts(panel, edges)) for panel in self.panels.values()]
            styles = [[scale.style(low) for low, _ in edges]] * 2
        largest = max(panel.max() for panel in values) or 1
        margin = max(map(len, [title, *labels])) + 2
        digits = longest_number(values)
        two = width - margin >= 2 * (digits + 10)
        room = (width - margin - 2) // 2 if two else width - margin
        length = max(1, room - digits - 1)
        names = [Text(label.rjust(margin - 2), style="dim") for label in [title, *labels]]
        blocks = []
        for name, panel, colours in zip(self.panels, values, styles, strict=True):
            block = [Text(name if title == "node" else f"{name}, nodes", style="bold")]
            for value, style in zip(panel.tolist(), colours, strict=True):
                bar = scale.bar(float(value / largest), length, style)
                block.append(Text.assemble(bar, " " if bar else "", short_number(value)))
            blocks.append(block)
        if two:
            yield from side_by_side([names, *blocks], gaps=(2, 2), widths=(margin - 2, room))
        else:
            for block in blocks:
                yield from side_by_side([names, block], gaps=(2,))

    def _whole(self) -> bool:
        return all(panel.dtype.kind in "iu" for panel in self.panels.values())

    def _addresses(self) -> list[str]:
        if isinstance(self.topology, Network):
            return [_cut(str(name)) for name in self.topology.names]
        if isinstance(self.topology, HyperHexaCell):
            return [self.topology.label(i) for i in range(self.topology.size)]
        separator = "" if isinstance(self.topology, Hypercube) else ","
        addresses = [self.topology.address(i) for i in range(self.topology.size)]
        return [separator.join(map(str, address)) or "0" for address in addresses]


def _cut(name: str) -> str:
    """Return a name shortened to leave room for bars, with ``?`` for unprintable characters."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in name)
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 2]}.."


def bins(least: float, largest: float, whole: bool) -> list[tuple[float, float]]:
    """Divide the range of loads into equal bins; return the first and last load of each."""
    span = largest - least
    if whole:
        step = float(math.ceil((span + 1) / MAX_BINS))
        lows = np.arange(least, largest + 1, step)
        return [(low, min(low + step - 1, largest)) for low in lows.tolist()]
    edges = np.linspace(least, largest, MAX_BINS + 1 if span > 0 else 2).tolist()
    return list(itertools.pairwise(edges))


def bin_counts(panel: NDArray[Any], edges: list[tuple[float, float]]) -> list[int]:
    """Return the number of loads in each bin; a bin ends where the next one begins."""
    lows = np.array([low for low, _ in edges])
    below = np.searchsorted(lows, panel.astype(np.float64), side="right")
    nodes: list[int] = np.bincount(np.maximum(below, 1) - 1, minlength=len(edges)).tolist()
    return nodes


def block_maxima(panel: NDArray[Any], limits: tuple[int, ...]) -> NDArray[Any]:
    """Return the largest load of each block, at most ``limits`` blocks along each axis."""
    for axis, limit in enumerate(limits):
        step = math.ceil(panel.shape[axis] / limit)
        if step > 1:
            starts = np.arange(0, panel.shape[axis], step)
            panel = np.maximum.reduceat(panel, starts, axis=axis)
    return panel


def longest_number(panels: Iterable[NDArray[Any]]) -> int:
    """Return the length of the longest number as text."""
    return max(len(short_number(load)) for panel in panels for load in panel.ravel().tolist())


def block_note(shape: Sequence[int], drawn: Sequence[int]) -> str:
    """Return a note on the nodes in a drawn cell; an empty one if it is a single node."""
    steps = [math.ceil(k / d) for k, d in zip(shape, drawn, strict=True)]
    if math.prod(steps) == 1:
        return ""
    return f"each the largest of {'x'.join(map(str, steps))} nodes"


def side_by_side(
    blocks: list[list[Text]], *, gaps: Sequence[int] = (_GAP,), widths: Sequence[int] = ()
) -> Iterator[Text]:
    """Join blocks with equal numbers of lines, from left to right."""
    natural = [max(line.cell_len for line in block) for block in blocks]
    columns = [*widths, *natural[len(widths) :]]
    for parts in zip(*blocks, strict=True):
        line = Text()
        for part, column, gap in zip(parts[:-1], columns, gaps, strict=False):
            line.append_text(part).append(" " * (column - part.cell_len + gap))
        yield line.append_text(parts[-1])


def short_number(load: float) -> str:
    """Return a load as a short text, such as 1,234 or 0.5012 or 1.23e+09."""
    if load != 0 and not 1e-3 <= abs(load) < 1e7:
        return f"{load:.3g}"
    return f"{load:,.0f}" if load == int(load) or abs(load) >= 1e4 else f"{load:,.4g}"
