"""A lock on a store's folder against other runs."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Readers of folders of Parquet files ignore names that begin with a dot.
LOCK = ".lock"

# Folders that this process has locked. The system's locks exclude other processes alone, and are
# lost as soon as the process closes any handle of their file.
_LOCKED: set[Path] = set()
_LOCKING = threading.Lock()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other runs. The lock ends with its process, however that ends.

    It is a record lock: the processes of a pool that outlive a killed run do not inherit it, as
    they would one of ``flock``.

    Raises
    ------
    BlockingIOError
        If another run has locked the folder; the message names its process.
    """
    real = folder.resolve()
    with _LOCKING:
        if real in _LOCKED:
            raise BlockingIOError(errno.EAGAIN, "is in use by this process", str(folder))
        _LOCKED.add(real)
    try:
        handle = os.open(real / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle, folder)
            yield
        finally:
            os.close(handle)
    finally:
        _LOCKED.discard(real)


def _lock(handle: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise OSError(error.errno, f"cannot be locked: {error.strerror}", str(folder)) from None
        owner = os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
        raise BlockingIOError(errno.EAGAIN, f"is in use by {owner}", str(folder)) from None
    with suppress(OSError):  # on a full disk the lock holds without its owner's name
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
