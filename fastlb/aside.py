"""Work that does not listen to signals, such as a compiler's, done ``aside``.

Python hears a signal between its own steps alone, in the main thread. What libraries in other
languages call back swallows what handlers raise: a Ctrl-C that comes while LLVM asks numba for a
compiled function would be lost. So the main thread only waits for such work, done in a thread of
its own, and an interrupt leaves it behind.
"""

from __future__ import annotations

import atexit
import ctypes
import threading

# Threads that interrupts have left behind.
_left_behind = []


def aside(function, *arguments):
    """Return ``function(*arguments)``, in the main thread open to signals meanwhile.

    What an interrupt leaves behind runs to its end, or to the end of the process: a kernel is then
    compiled for the next call. It must not write to what belongs to the caller.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    results, errors = [], []

    def work():
        try:
            results.append(function(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="fastlb-aside", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # Python starts no threads while it ends.
        return function(*arguments)
    try:
        thread.join()
    except BaseException:
        _left_behind.append(thread)
        raise
    if errors:
        raise errors[0]
    return results[0]


def left_behind():
    """Return the threads that interrupts have left behind and that still work."""
    return [thread for thread in _left_behind if thread.is_alive()]


@atexit.register
def _end_all():
    """End what was left behind: a process that ends while LLVM works may crash.

    What is raised in a thread may be swallowed there, too, hence again and again.
    """
    for thread in left_behind():
        while thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
            )
            thread.join(0.02)
