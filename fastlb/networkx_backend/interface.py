"""The object to which NetworkX hands its calls: what runs here, with what, on which graphs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .information import HOME

if TYPE_CHECKING:
    from .graph import ConvertedGraph


class Interface:
    """The functions of this backend, under NetworkX's names, each loaded at its first use."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in HOME:
            raise AttributeError(f"fastlb does not serve networkx.{name}")
        module = importlib.import_module(f".{HOME[name]}", __package__)
        function: Callable[..., Any] = getattr(module, name)
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *HOME})

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return True, or why NetworkX has to run a call itself."""
        from .arguments import reason_to_decline

        return reason_to_decline(name, args, kwargs) or True

    def should_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return True: what can run here is faster here."""
        return True

    def convert_from_nx(
        self,
        graph: Any,
        edge_attrs: dict[Any, Any] | None = None,
        node_attrs: dict[Any, Any] | None = None,
        preserve_edge_attrs: bool = False,
        preserve_node_attrs: bool = False,
        preserve_graph_attrs: bool = False,
        name: str | None = None,
        graph_name: str | None = None,
        **_: Any,
    ) -> ConvertedGraph:
        """Return a NetworkX graph as arrays, with data of its edges if any is asked for."""
        from .graph import ConvertedGraph

        if isinstance(graph, ConvertedGraph):
            return graph
        return ConvertedGraph(graph, with_data=bool(edge_attrs or preserve_edge_attrs))

    def convert_to_nx(self, result: Any, *, name: str | None = None) -> Any:
        """Return the NetworkX graph that was converted; other results as they are."""
        from .graph import ConvertedGraph

        return result.original if isinstance(result, ConvertedGraph) else result


backend = Interface()
