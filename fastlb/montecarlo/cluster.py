"""Dask clusters as executors of a study: that of a scheduler, or processes of this machine."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from ..extras import extra

LOCAL = "local"

# Seconds to wait for a scheduler's answer, and for its first worker.
ANSWER, FIRST_WORKER = 10, 60


@contextmanager
def dask_executor(address: str, *, processes: int = 1) -> Iterator[Executor]:
    """Connect to a Dask cluster and yield an executor that runs chunks of a study there.

    Workers may come, go and be killed: Dask runs the chunks of a lost one elsewhere.

    Parameters
    ----------
    address : str
        Address of a scheduler, such as ``"tcp://10.0.0.1:8786"``, or ``"local"``.
    processes : int
        Number of worker processes of ``"local"``; they end with the context.

    Raises
    ------
    OSError
        If the scheduler does not answer.
    TimeoutError
        If it has no workers.
    MissingExtraError
        If Dask is not installed.
    """
    dask = extra("distributed")
    if address == LOCAL:
        with (
            # The dashboard is off. Its server starts nevertheless, on any free port, for this
            # machine alone. Dead workers are not logged, as their chunks are run again.
            dask.LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL + 1,
            ) as cluster,
            dask.Client(cluster) as client,
        ):
            client.run(ignore_interrupts, on_error="ignore")
            yield client.get_executor()
        return
    with dask.Client(address, timeout=ANSWER) as client:
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER)
        except TimeoutError:
            raise TimeoutError(f"{address} has no workers after {FIRST_WORKER} seconds") from None
        yield client.get_executor()


def ignore_interrupts() -> None:
    """Ignore a terminal's Ctrl-C, which reaches workers too: the main process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
