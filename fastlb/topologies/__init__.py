"""Interconnection networks: grids and cubes by address, all others by links, and spellings."""
