"""0-1 programs: solved, counted, read from files, and searched on a simulated hypercube."""
