"""Functions over registers that are written once: ``traced``, arrays as memory, and control flow.

A ``traced`` function is called from a kernel, on its arrays and numbers. Compiled, it runs once
while the kernel is compiled, on stand-ins that record instructions: Python's own loops, lists and
tuples are unrolled, and tests of what is known then choose a path. Loops and branches over what is
known only when the kernel runs are written with ``fori`` and ``cond``, as in JAX. With
``NUMBA_DISABLE_JIT=1`` the same function gets NumPy arrays and Python's numbers.

    @traced("bits")
    def exchange_rows(loads, base, stride, bits):
        rows = [loads.load(base + r * stride, 8) for r in range(1 << bits)]
        ...

``bits`` is static: a literal where the function is called, a Python number in it. Nothing is
compiled for a traced function by itself, so that many small ones cost a first call little.
"""

import inspect

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

from .vectors import Vector, lanes, llvm_type

INDEX = ir.IntType(64)
CACHE_LINE = 64


class Memory:
    """A C-ordered array while a function is traced; elements count from its first one."""

    def __init__(self, builder, data, dtype, shape=()):
        self.builder, self.data, self.dtype, self.shape = builder, data, dtype, shape
        self.itemsize = dtype.itemsize

    def _pointer(self, at):
        if isinstance(at, tuple):
            flat = at[0]
            for length, index in zip(self.shape[1:], at[1:], strict=True):
                flat = length * flat + index
            at = flat
        return self.builder.gep(self.data, [at.value if isinstance(at, Vector) else INDEX(at)])

    def _vector_pointer(self, at, size):
        kind = llvm_type(self.dtype, size).as_pointer()
        return self.builder.bitcast(self._pointer(at), kind)

    def __getitem__(self, at):
        value = self.builder.load(self._pointer(at), align=self.itemsize)
        if self.dtype.kind == "b":
            value = self.builder.trunc(value, ir.IntType(1))
        return Vector(self.builder, value, self.dtype)

    def __setitem__(self, at, number):
        if not isinstance(number, Vector):
            number = Vector(self.builder, llvm_type(self.dtype)(number), self.dtype)
        value = number.astype(self.dtype).value
        if self.dtype.kind == "b":
            value = self.builder.zext(value, ir.IntType(8))
        self.builder.store(value, self._pointer(at), align=self.itemsize)

    def load(self, at, size=0):
        """Return ``size`` elements from an index on, by default as many as fill a register."""
        place = self._vector_pointer(at, size or lanes(self.dtype))
        return Vector(self.builder, self.builder.load(place, align=self.itemsize), self.dtype)

    def store(self, at, vector, *, stream=False):
        """Store a vector from an index on, converted as an assignment to an array does.

        ``stream`` : past the caches, for what is not read again soon; the place must then be
        aligned to the vector's size.
        """
        vector = vector.astype(self.dtype)
        align = vector.size * self.itemsize if stream else self.itemsize
        place = self._vector_pointer(at, vector.size)
        stored = self.builder.store(vector.value, place, align=align)
        if stream:
            one = ir.Constant(ir.IntType(32), 1)
            stored.set_metadata("nontemporal", self.builder.module.add_metadata([one]))

    def prefetch(self, at, size, *, to_write=False):
        """Ask for the cache lines of ``size`` elements, which may lie outside the array."""
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = self.builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        start = self.builder.bitcast(self._pointer(at), byte)
        for line in range(0, size * self.itemsize, CACHE_LINE):
            place = self.builder.gep(start, [INDEX(line)])
            self.builder.call(fetch, [place, word(int(to_write)), word(3), word(1)])

    def view(self, dtype):
        """Return the same bytes as an array of another dtype of the same width."""
        dtype = np.dtype(dtype)
        if dtype.itemsize != self.itemsize:
            raise TypeError(f"cannot view {self.dtype} as {dtype}")
        data = self.builder.bitcast(self.data, llvm_type(dtype).as_pointer())
        return Memory(self.builder, data, dtype, self.shape)


class PlainMemory:
    """The same without the compiler: a NumPy array."""

    def __init__(self, array):
        self.array, self.flat = array, array.reshape(-1)
        self.dtype, self.itemsize, self.shape = array.dtype, array.itemsize, array.shape

    def _index(self, at):
        if not isinstance(at, tuple):
            return int(at)
        return int(np.ravel_multi_index(tuple(map(int, at)), self.shape))

    def __getitem__(self, at):
        return self.flat[self._index(at)]

    def __setitem__(self, at, number):
        self.flat[self._index(at)] = number

    def load(self, at, size=0):
        at, size = self._index(at), size or lanes(self.dtype)
        return self.flat[at : at + size].copy()

    def store(self, at, vector, *, stream=False):
        at = self._index(at)
        self.flat[at : at + vector.size] = vector.astype(self.dtype)

    def prefetch(self, at, size, *, to_write=False):
        pass

    def view(self, dtype):
        return PlainMemory(self.array.view(dtype))


def either(chosen, a, b):
    """Return one of two arrays of a dtype and shape, by a truth value."""
    if isinstance(a, PlainMemory):
        return a if chosen else b
    data = a.builder.select(chosen.value, a.data, b.data)
    return Memory(a.builder, data, a.dtype, a.shape)


def update(memory, at, join, vector):
    """Replace elements by what ``join`` makes of them and a vector, converted to their dtype."""
    memory.store(at, join(memory.load(at, vector.size), vector.astype(memory.dtype)))


def stack(like, dtype, size):
    """Return ``size`` elements of room on the stack, for this call alone.

    ``like`` is any array or number of the function; it only tells how the function runs.
    """
    dtype = np.dtype(dtype)
    if not hasattr(like, "builder"):
        return PlainMemory(np.empty(size, dtype))
    room = cgutils.alloca_once(like.builder, llvm_type(dtype), size=INDEX(size))
    return Memory(like.builder, room, dtype, (size,))


def cond(chosen, then, otherwise=None):
    """Run one of two functions; return what it returns, None or a sequence of values."""
    if not isinstance(chosen, Vector):
        return then() if chosen else otherwise() if otherwise else None
    builder = chosen.builder
    if otherwise is None:
        with builder.if_then(chosen.value):
            then()
        return None
    results, blocks = [], []
    with builder.if_else(chosen.value) as branches:
        for branch, run in zip(branches, (then, otherwise), strict=True):
            with branch:
                results.append(run() or ())
                blocks.append(builder.block)
    joined = []
    for pair in zip(*results, strict=True):
        phi = builder.phi(pair[0].value.type)
        for vector, block in zip(pair, blocks, strict=True):
            phi.add_incoming(vector.value, block)
        joined.append(Vector(builder, phi, pair[0].dtype))
    return joined


class _Carried:
    """What a loop carries: numbers, kept in places on the stack that LLVM turns into registers."""

    def __init__(self, builder, values):
        self.builder = builder
        values = [Vector(builder, INDEX(v), np.int64) if isinstance(v, int) else v for v in values]
        self.dtypes = [value.dtype for value in values]
        self.slots = [cgutils.alloca_once_value(builder, value.value) for value in values]

    def read(self):
        places = zip(self.slots, self.dtypes, strict=True)
        return [Vector(self.builder, self.builder.load(slot), dtype) for slot, dtype in places]

    def write(self, values):
        for slot, value in zip(self.slots, values, strict=True):
            self.builder.store(value.value, slot)


def fori(stop, body, *carried, start=0, step=1):
    """Run ``body(i, *carried)`` for i in ``range(start, stop, step)``; return the last values.

    ``body`` returns the values that it gets at the next i, or None if there are none; one that
    begins as a Python integer is an int64. ``step`` is a positive Python number.
    """
    if not isinstance(stop, Vector) and not isinstance(start, Vector):
        traced_values = [value for value in carried if isinstance(value, Vector)]
        if not traced_values:
            for i in range(start, stop, step):
                carried = body(i, *carried) or ()
            return list(carried)
        builder = traced_values[0].builder
    else:
        builder = (stop if isinstance(stop, Vector) else start).builder
    values = _Carried(builder, carried)
    first, last = (x.value if isinstance(x, Vector) else INDEX(x) for x in (start, stop))
    with cgutils.for_range_slice(builder, first, last, INDEX(step), inc=True) as (i, _):
        values.write(body(Vector(builder, i, np.int64), *values.read()) or ())
    return values.read()


def each_register(count, dtype, body):
    """Run ``body(at, size)`` over ``count`` elements, a register of ``size`` at a time.

    ``count`` is a multiple of a register's lanes, or 1: then ``size`` is 1.
    """
    size = lanes(dtype)
    cond(count == 1, lambda: body(0, 1), lambda: fori(count, lambda at: body(at, size), step=size))


def while_loop(test, body, *carried):
    """Run ``body(*carried)`` as long as ``test(*carried)`` is true; return the last values."""
    builder = next((value.builder for value in carried if isinstance(value, Vector)), None)
    if builder is None:
        while test(*carried):
            carried = body(*carried)
        return list(carried)
    values = _Carried(builder, carried)
    tested, inside, after = (
        builder.append_basic_block(name) for name in ("while.test", "while.body", "while.end")
    )
    builder.branch(tested)
    builder.position_at_end(tested)
    builder.cbranch(test(*values.read()).value, inside, after)
    builder.position_at_end(inside)
    values.write(body(*values.read()))
    builder.branch(tested)
    builder.position_at_end(after)
    return values.read()


def traced(*static, returns=types.none):
    """Decorate a function of arrays, numbers, truth values, None and tuples of them.

    ``static`` names the parameters that are literals where the function is called. ``returns`` is
    the numba type of the number, or of the tuple of numbers, that it returns, or a function of the
    arguments' types that tells it.
    """

    def decorate(function):
        signature = inspect.signature(function)
        names = list(signature.parameters)

        def plain(*arguments):
            # Integers wrap, as they do in registers; NumPy warns of single numbers that do.
            with np.errstate(all="ignore"):
                return function(*map(_plain, arguments))

        if config.DISABLE_JIT:
            return plain

        def typed(_context, *kinds):
            literals = {
                name: kind.literal_value
                for name, kind in zip(names, kinds, strict=True)
                if name in static and kind != types.none
            }
            accepted = [
                kind if name in static else types.unliteral(kind)
                for name, kind in zip(names, kinds, strict=True)
            ]
            result = returns if isinstance(returns, types.Type) else returns(*accepted)

            def generate(context, builder, call, values):
                arguments = [
                    literals[name] if name in literals else _stand_in(context, builder, kind, value)
                    for name, kind, value in zip(names, call.args, values, strict=True)
                ]
                returned = function(*arguments)
                return _returned(context, builder, result, returned)

            return result(*accepted), generate

        typed.__name__ = function.__name__
        typed.__signature__ = signature.replace(
            parameters=[
                inspect.Parameter("_context", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                *signature.parameters.values(),
            ]
        )
        made = intrinsic(prefer_literal=True)(typed)
        made.plain = plain
        return made

    return decorate


def _plain(argument):
    if isinstance(argument, tuple):
        return tuple(map(_plain, argument))
    # What ``select`` returns of two numbers is an array without axes.
    is_array = isinstance(argument, np.ndarray) and argument.ndim > 0
    return PlainMemory(argument) if is_array else argument


def _stand_in(context, builder, kind, value):
    """Return what stands for an argument of a numba type while a function is traced."""
    if isinstance(kind, types.Array):
        if kind.layout != "C":
            raise TypeError(f"traced functions take C-ordered arrays, got {kind}")
        array = context.make_array(kind)(context, builder, value)
        shape = tuple(
            Vector(builder, builder.extract_value(array.shape, axis), np.int64)
            for axis in range(kind.ndim)
        )
        return Memory(builder, array.data, as_dtype(kind.dtype), shape)
    if isinstance(kind, types.NoneType):
        return None
    if isinstance(kind, types.BaseTuple):
        return tuple(
            _stand_in(context, builder, part, builder.extract_value(value, i))
            for i, part in enumerate(kind)
        )
    if isinstance(kind, types.Boolean):
        if value.type.width > 1:
            # Inside a tuple a truth value takes a byte.
            value = builder.trunc(value, ir.IntType(1))
        return Vector(builder, value, np.bool_)
    return Vector(builder, value, as_dtype(types.unliteral(kind)))


def _returned(context, builder, kind, value):
    """Return what a traced function returned as numba has it."""
    if kind == types.none:
        return context.get_dummy_value()
    if isinstance(kind, types.BaseTuple):
        parts = [_returned(context, builder, *part) for part in zip(kind, value, strict=True)]
        return context.make_tuple(builder, kind, parts)
    if not isinstance(value, Vector):
        return context.get_constant(kind, value)
    return value.astype(as_dtype(kind)).value


@traced(returns=types.int64)
def register_lanes(array):
    """Return how many elements of an array fill a register: a constant in compiled kernels."""
    return lanes(array.dtype)
