"""fastlb as a backend of NetworkX, whose flow functions then run in fastlb's kernels.

NetworkX loads ``information`` when it is imported and ``interface`` at the first call that it
hands over. Neither loads numpy, scipy or numba; the modules of the functions do.
"""
