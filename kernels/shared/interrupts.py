"""Ctrl-C while a kernel runs: ``long_kernel`` and ``interrupted``.

Python hears a signal between its own steps alone, in the main thread. A kernel that may take long
counts its work on a meter, and asks now and then whether to go on; Python's handlers run then. What
one raises is raised once the kernel has returned: it ends as it always does, and frees its arrays.
Where none raises, results are the same to the bit. A thread of a pool asks whether that is to end.

    @long_kernel
    def search(..):
        meter = new_meter()
        while not interrupted(meter, m):       # m numbers more are worked on
"""

from __future__ import annotations

import functools
import threading
from threading import get_ident

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.registry import cpu_target

from .compiling import inlined, kernel
from .tracing import cond, fori, traced
from .vectors import Vector, minimum, select, spread

# Units of work, each some nanoseconds, after which a kernel asks: some 20 ms.
WORK_BETWEEN = 2**23
# Turns of a loop after which ``long_fori`` asks: some milliseconds.
STRETCH = 2**21
# What a meter shows once its kernel is to end: no work reaches it.
STOPPED = -(2**62)

VOID = ir.VoidType()
# ``ended`` : an event of this thread's pool.
_thread = threading.local()
# By the number of a thread: what was raised while a kernel of that thread asked.
_raised = {}


def end_with(ended):
    """Have long kernels of this thread, one of a pool, raise ``KeyboardInterrupt`` at an event."""
    _thread.ended = ended


def ask():
    """Raise in a thread whose pool is to end; in the main one, handlers of signals run before."""
    ended = getattr(_thread, "ended", None)
    if ended is not None and ended.is_set():
        raise KeyboardInterrupt


def long_kernel(function):
    """Compile a function as ``kernel`` does; it raises what was raised when it asked."""
    compiled = kernel(function)
    if config.DISABLE_JIT:
        return compiled

    @functools.wraps(function)
    def call(*arguments):
        try:
            result = compiled(*arguments)
        except SystemError as error:
            # numba runs Python, and so handlers, while it makes arrays of results, and goes on.
            while isinstance(error, SystemError) and error.__cause__:
                error = error.__cause__
            raise error from None
        if _raised and (own := _raised.pop(get_ident(), None)) is not None:
            raise own
        return result

    return call


@inlined
def new_meter():
    """Return a meter: the work of one call since it last asked, or ``STOPPED``."""
    return np.zeros(1, np.int64)


def asked_to_end(meter, work):
    """Count work, and tell whether the kernel is to end: ``interrupted`` for traced functions."""
    time = meter[0] + work
    meter[0] = time

    def look():
        meter[0] = select(_ask(meter), spread(STOPPED, time), spread(0, time))

    cond(time > WORK_BETWEEN, look)
    return meter[0] < 0


def long_fori(meter, stop, body, *carried, start=0, step=1, stretch=STRETCH):
    """Run a loop as ``fori`` does, ask whenever i has grown by ``stretch``, and end it if it must.

    ``stretch`` is a multiple of ``step``. A shorter loop asks nothing, and is about as fast.
    """

    def run(first, *carried):
        last = minimum(first + stretch, stop)

        def unless_ended():
            return [select(asked_to_end(meter, WORK_BETWEEN + 1), first, last)]

        (last,) = cond(first > start, unless_ended, lambda: [last])
        return fori(last, body, *carried, start=first, step=step)

    return fori(stop, run, *carried, start=start, step=stretch)


@traced(returns=types.boolean)
def interrupted(meter, work):
    """Count work, and tell whether the kernel is to end; from then on it always says so."""
    return asked_to_end(meter, work)


def _ask(meter):
    """Call ``ask`` and keep what it raises; return whether it raised."""
    if not hasattr(meter, "builder"):
        # Python hears signals, and raises, itself.
        ask()
        return np.bool_(False)
    module, signature = meter.builder.module, ir.FunctionType(ir.IntType(1), [])
    function = cgutils.get_or_insert_function(module, signature, "fastlb_ask")
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        # No array of the kernel is changed: LLVM need not read sizes and tables again, which made
        # DDE of small meshes take twice as long.
        for attribute in ("cold", "noinline", "nounwind", "inaccessiblememonly"):
            function.attributes.add(attribute)
        _write_ask(ir.IRBuilder(function.append_basic_block()))
    return Vector(meter.builder, meter.builder.call(function, []), np.bool_)


def _write_ask(builder):
    """Generate the code of a function that does so."""
    api = cpu_target.target_context.get_python_api(builder)
    lock = api.gil_ensure()
    name = api.context.insert_const_string(builder.module, __name__)
    module = api.import_module(name)
    answer = api.call_method(module, "ask")
    raised = cgutils.is_null(builder, answer)
    with builder.if_then(raised):
        error = [cgutils.alloca_once(builder, api.pyobj) for _ in range(3)]
        api.err_fetch(*error)
        name, signature = "PyErr_NormalizeException", ir.FunctionType(VOID, [api.pyobjptr] * 3)
        builder.call(cgutils.get_or_insert_function(builder.module, signature, name), error)
        # All is written in C: no step of Python, and so no handler, comes in between.
        thread = api.call_method(module, "get_ident")
        raised_in = api.object_getattr_string(module, "_raised")
        api.dict_setitem(raised_in, thread, builder.load(error[1]))
        for reference in (raised_in, thread, *map(builder.load, error)):
            api.decref(reference)
    for reference in (answer, module):
        api.decref(reference)
    api.gil_release(lock)
    builder.ret(raised)
