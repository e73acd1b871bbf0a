"""Random loads of trials.

``distributions`` has the classes that distributions derive from and ``Uniform``; ``tabulated``,
with ``tables`` of exact probabilities, ``one_hot`` and ``resampled`` have the others. ``bounds``
checks their parameters, ``parse`` reads their spellings, ``sampling`` draws loads.
"""
