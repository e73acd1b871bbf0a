"""Rounds: the transfers of a plan in an order in which limits at nodes and on links hold."""
