"""The plots of the More-Wu study: speedup over each attribute, with a panel for each family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..reports.plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from .more_wu_programs import FAMILIES

if TYPE_CHECKING:
    from .more_wu_tables import SearchMeasurements

COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", GREY, "#56B4E9")
MARKERS = "os^Dvx"
LABELS = {
    "dimension": "dimension of the hypercube",
    "columns": "columns",
    "rows": "rows",
    "faults": "faulty links",
    "variants": "columns",
}


def speedup(measured: SearchMeasurements, attribute: str) -> Any:
    """Draw the speedup over one attribute, with two standard errors."""
    page = new_figure(figsize=(9.0, 4.0))
    panels = page.subplots(1, len(FAMILIES), sharey=True)
    for axes, family in zip(panels, FAMILIES, strict=True):
        for i, line in enumerate(measured.lines(attribute, family)):
            axes.errorbar(
                measured.headings(attribute)[: len(line.means)],
                [mean.mean for mean in line.means],
                yerr=[2 * mean.standard_error for mean in line.means]
                if measured.trials > 1
                else None,
                color=COLOURS[i],
                marker=MARKERS[i],
                markersize=4,
                capsize=2,
                label=f"{measured.kind(attribute)} {line.label}".strip(),
            )
        axes.axhline(1, color="#bbbbbb", linewidth=1, zorder=0)
        axes.set_title(family.name)
        axes.set_xlabel(LABELS[attribute])
        axes.set_xticks(measured.headings(attribute))
        axes.grid(axis="y", color="#dddddd")
    panels[0].set_ylabel("speedup by balancing")
    panels[0].set_ylim(bottom=0)
    panels[-1].legend(fontsize=8)
    shown = "columns by variants" if attribute == "variants" else attribute
    errors = " ± 2 s.e." if measured.trials > 1 else ""
    page.suptitle(f"Speedup over {shown}, mean of {measured.trials:,} problems a setting{errors}")
    return page
