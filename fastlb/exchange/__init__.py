"""Balancing by exchange: DEM, its fault-tolerant form, GDE and DDE, from loads to a result."""
