"""Minimax flow under link capacities: the search, its certificates, plans, and whole entities."""
