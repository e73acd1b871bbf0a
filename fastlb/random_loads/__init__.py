"""Random loads: distributions, and the sampling of exactly what a trial sees."""
