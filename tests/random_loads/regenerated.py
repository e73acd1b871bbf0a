"""Loads of a trial regenerated with NumPy and the documentation."""

import numpy as np

import fastlb as lb


def numpy_loads(law, seed, trial, nodes):
    """Regenerate the loads of a trial with NumPy and the documentation."""
    stream = np.random.Philox(key=seed, counter=[0, trial, 0, 0])
    if law == lb.Uniform(1000):
        numbers = stream.random_raw((nodes + 1) // 2).view(np.uint32)[:nodes]
        return (numbers.astype(np.uint64) * np.uint64(2001) >> np.uint64(32)).astype(np.int64)
    words = stream.random_raw(nodes)
    if isinstance(law, lb.Uniform):
        return np.array([word * (2 * law.mean + 1) >> 64 for word in words.tolist()])
    if isinstance(law, lb.OneHot):
        loads = np.full(nodes, law.rest)
        loads[int(words[0]) * nodes >> 64] = law.load
        return loads
    if isinstance(law, lb.Resampled):
        return law.values[[word * len(law.values) >> 64 for word in words.tolist()]]
    c = np.searchsorted(law.table.thresholds, words, side="right")
    return law.table.first[c] + (words & law.table.mask[c]).astype(np.int64)
