"""Algorithms A, B and C on the Hyper Hexa-Cell, what they cost, and the paper's errata."""
