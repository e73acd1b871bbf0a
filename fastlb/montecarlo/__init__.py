"""Monte Carlo studies: their definition, runs, statistics and stores.

A study
    ``study``, ``grid``, ``targets``, ``methodtext``; as a TOML file ``studyfile`` and, for errors,
    ``studyfile_lines``.
A run, from the outside in
    ``runner`` checks the arguments, ``gathering`` collects the trials, ``storage`` reads or runs
    them, ``executors`` and ``cluster`` run chunks anywhere, ``measuring`` balances one chunk, in
    rows or by ``measuring_tiles`` and ``tile_methods``. ``chunks`` and ``stopping`` say which
    trials are run.
Results
    ``collecting`` has rows or ``tally``, made of ``moments`` and ``histogram``; ``results``,
    ``statistic``, ``summary`` and ``keys`` show them.
A store
    ``store`` opens a folder: its ``manifest``, with a ``description`` of the study, a
    ``store_lock`` and the ``stored_trials``, whose files have the format of ``parts``.
"""
