"""Ctrl-C while a kernel runs or is compiled: ``interruptible``, ``interrupted`` and ``aside``.

Python hears a signal between its own steps alone, in the main thread. A kernel that may take long
counts its work on a clock, and asks now and then whether to go on; Python's handlers run then:

    @interruptible
    @kernel
    def search(..):
        clock = new_clock()
        while ..:
            if interrupted(clock, m):       # m numbers more were worked on
                break

What a handler raised, ``KeyboardInterrupt`` mostly, is raised once the kernel has returned; what it
returned is dropped. So a kernel ends as it always does, and frees its arrays. A handler that raises
nothing changes nothing: the kernel goes on, and results are the same to the bit.

Other threads hear no signals. One of a pool asks whether its pool was told to end. Whatever else
takes long and never asks, such as a compiler, runs ``aside``.
"""

from __future__ import annotations

import functools
import threading

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiling import inlined

# Units of work, each some nanoseconds, after which a kernel asks: some 50 ms.
WORK_BETWEEN = 2**24
# What a clock shows once its kernel is to end: no work reaches it.
STOPPED = -(2**62)

# Of each thread: ``ended``, an event of its pool, and ``raised``, what a handler raised.
_thread = threading.local()


def end_with(ended):
    """Have long kernels of this thread, one of a pool, end with ``KeyboardInterrupt`` at an event.

    ``ended`` : threading.Event
    """
    _thread.ended = ended


def ask():
    """Raise ``KeyboardInterrupt`` in a thread whose pool was told to end; kernels call this.

    In the main thread Python runs the handlers of signals before it begins.
    """
    ended = getattr(_thread, "ended", None)
    if ended is not None and ended.is_set():
        raise KeyboardInterrupt


class Interruptible:
    """A kernel that asks: it raises what was raised meanwhile."""

    def __init__(self, compiled):
        functools.update_wrapper(self, compiled)
        self.compiled = compiled

    def __call__(self, *arguments):
        """Return what the kernel returns, or raise."""
        result, raised = self.attempt(*arguments)
        if raised is not None:
            raise raised
        return result

    def attempt(self, *arguments):
        """Return what the kernel returns, and what was raised meanwhile, or None.

        With that the result is as of a kernel that stopped early, or None.
        """
        try:
            result = self.compiled(*arguments)
        except SystemError as error:
            # numba runs Python, and so handlers, while it makes arrays of results, and goes on.
            if not isinstance(error.__cause__, BaseException):
                raise
            return None, error.__cause__
        return result, _thread.__dict__.pop("raised", None)


def interruptible(compiled):
    """Make a kernel that asks raise what was raised meanwhile."""
    return compiled if config.DISABLE_JIT else Interruptible(compiled)


@inlined
def new_clock():
    """Return a clock: the work of one call since it last asked, or ``STOPPED``."""
    return np.zeros(1, np.int64)


@intrinsic
def _interrupted(_context, clock, work):
    def generate(context, builder, call, values):
        word = ir.IntType(64)
        shown = context.make_array(call.args[0])(context, builder, values[0]).data
        time = builder.add(builder.load(shown), values[1])
        builder.store(time, shown)
        stop = cgutils.alloca_once_value(builder, builder.icmp_signed("<", time, word(0)))
        with builder.if_then(builder.icmp_signed(">", time, word(WORK_BETWEEN)), likely=False):
            raised = _ask(context, builder)
            builder.store(builder.select(raised, word(STOPPED), word(0)), shown)
            builder.store(raised, stop)
        return builder.load(stop)

    return types.boolean(clock, types.int64), generate


def _ask(context, builder):
    """Generate code that calls ``ask`` and keeps what it raises; return whether it raised."""
    api = context.get_python_api(builder)
    lock = api.gil_ensure()
    module = api.import_module(context.insert_const_string(builder.module, __name__))
    answer = api.call_method(module, "ask")
    raised = cgutils.is_null(builder, answer)
    with builder.if_then(raised, likely=False):
        error = [cgutils.alloca_once(builder, api.pyobj) for _ in range(3)]
        api.err_fetch(*error)
        signature = ir.FunctionType(ir.VoidType(), [api.pyobjptr] * 3)
        normalize = cgutils.get_or_insert_function(
            builder.module, signature, "PyErr_NormalizeException"
        )
        builder.call(normalize, error)
        # Both are written in C: no step of Python, and so no handler, comes in between.
        thread = api.object_getattr_string(module, "_thread")
        api.object_setattr_string(thread, "raised", builder.load(error[1]))
        for reference in (thread, *map(builder.load, error)):
            api.decref(reference)
    for reference in (answer, module):
        api.decref(reference)
    api.gil_release(lock)
    return raised


def _plain(_clock, _work):
    """Python hears signals itself."""
    ask()
    return False


# ``interrupted(clock, work)`` counts work, and tells whether the kernel is to end; from then on it
# always says so.
interrupted = _plain if config.DISABLE_JIT else _interrupted
