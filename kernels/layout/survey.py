"""Total, least and largest of each of many rows of loads, in one pass.

Legend: ``B`` networks, a row each, of ``N`` nodes.
"""

from ..shared.compiling import kernel


@kernel
def survey(rows, totals, smallest, largest):
    """Set ``totals``, ``smallest`` and ``largest`` (B,) to those of ``rows`` (B, N), N positive.

    Totals are int64 or float64. Those of int64 wrap: the caller sees from the largest loads whether
    they may have. Floats are added up from the first node to the last.
    """
    zero = totals.dtype.type(0)
    wide = totals.dtype.type
    for b in range(rows.shape[0]):
        total = zero
        least = most = rows[b, 0]
        for i in range(rows.shape[1]):
            load = rows[b, i]
            total += wide(load)
            least = load if load < least else least
            most = load if load > most else most
        totals[b], smallest[b], largest[b] = total, least, most
