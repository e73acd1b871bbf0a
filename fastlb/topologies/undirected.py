"""Topologies whose links are undirected."""

from __future__ import annotations

from typing import Any

import numpy as np

from .network import Network
from .topology import Topology


class Undirected(Topology):
    """A topology whose links are undirected: all but :class:`Network`."""

    def network(self, *, capacity: Any = None, traffic: Any = None) -> Network:
        """Return both directions of every healthy link as a :class:`Network`.

        Parameters
        ----------
        capacity, traffic
            As for :class:`Network`: a scalar or one value a directed link. The links are the
            rows of ``edges`` followed by the same rows reversed.
        """
        ends = np.concatenate([self.edges, self.edges[:, ::-1]])
        return Network(ends, n=self.size, capacity=capacity, traffic=traffic, topology=self)
