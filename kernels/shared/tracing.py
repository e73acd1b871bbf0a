"""Functions over registers that are written once: ``traced``, arrays as memory, and control flow.

A ``traced`` function is called from a kernel, on its arrays and numbers. Its Python text runs once,
while the kernel is compiled, on stand-ins that record instructions: a ``Memory`` for an array, a
``Vector`` for a number. So Python's own loops, lists and tuples are unrolled, and an ``if`` chooses
by what is known at that time, such as a dtype. Loops and branches over what is known only when the
kernel runs are written with ``fori`` and ``cond``, as in JAX. With ``NUMBA_DISABLE_JIT=1`` the same
function gets NumPy arrays and Python's numbers.

    @traced("bits")
    def exchange_rows(loads, base, stride, bits):
        rows = [loads.load(base + r * stride, 8) for r in range(1 << bits)]
        ...

``bits`` is static: a literal where the function is called, a Python number in it. A traced function
becomes part of the kernels that call it, so that many small ones cost a first call little.
"""

import inspect

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

from .vectors import Vector, lanes, llvm_type

# LLVM's type of the index of an element.
INDEX = ir.IntType(64)
# Bytes that memory hands over at once.
CACHE_LINE = 64


class Memory:
    """A C-ordered array while a function is traced.

    An index ``at`` counts elements from the first one, whatever the shape, or is a tuple of one
    index an axis. Indices are not checked, and negative ones do not count from the end.
    """

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
        pointer_type = llvm_type(self.dtype, size).as_pointer()
        return self.builder.bitcast(self._pointer(at), pointer_type)

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
        pointer = self._vector_pointer(at, size or lanes(self.dtype))
        return Vector(self.builder, self.builder.load(pointer, align=self.itemsize), self.dtype)

    def store(self, at, vector, *, stream=False):
        """Store a vector from an index on, converted as an assignment to an array does.

        ``stream`` : past the caches, for what is not read again soon; the address must then be a
        multiple of the vector's bytes.
        """
        vector = vector.astype(self.dtype)
        align = vector.size * self.itemsize if stream else self.itemsize
        pointer = self._vector_pointer(at, vector.size)
        stored = self.builder.store(vector.value, pointer, align=align)
        if stream:
            one = ir.Constant(ir.IntType(32), 1)
            stored.set_metadata("nontemporal", self.builder.module.add_metadata([one]))

    def prefetch(self, at, size, *, to_write=False):
        """Ask for the cache lines of ``size`` elements, which may lie outside the array."""
        bytes_, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [bytes_, word, word, word])
        fetch = self.builder.module.declare_intrinsic("llvm.prefetch", [bytes_], signature)
        start = self.builder.bitcast(self._pointer(at), bytes_)
        all_caches, data = word(3), word(1)
        for line in range(0, size * self.itemsize, CACHE_LINE):
            pointer = self.builder.gep(start, [INDEX(line)])
            self.builder.call(fetch, [pointer, word(int(to_write)), all_caches, data])

    def view(self, dtype):
        """Return the same bytes as an array of another dtype of the same width."""
        dtype = np.dtype(dtype)
        if dtype.itemsize != self.itemsize:
            raise TypeError(f"cannot view {self.dtype} as {dtype}")
        data = self.builder.bitcast(self.data, llvm_type(dtype).as_pointer())
        return Memory(self.builder, data, dtype, self.shape)


class PlainMemory:
    """The same without the compiler: ``array``, a NumPy array, and ``flat``, a view of one axis."""

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
    """Return ``a`` if a truth value holds, else ``b``: arrays of one dtype and shape."""
    if isinstance(a, PlainMemory):
        return a if chosen else b
    data = a.builder.select(chosen.value, a.data, b.data)
    return Memory(a.builder, data, a.dtype, a.shape)


def update(memory, at, join, vector):
    """Set the elements at ``at`` to ``join(elements, vector)``, the vector in their dtype."""
    memory.store(at, join(memory.load(at, vector.size), vector.astype(memory.dtype)))


def stack(like, dtype, size):
    """Return an array (size,) on the stack, not set, that lasts for this call alone.

    ``like`` is any array or number of the function; it only tells whether that is being compiled.
    """
    dtype = np.dtype(dtype)
    if not hasattr(like, "builder"):
        return PlainMemory(np.empty(size, dtype))
    data = cgutils.alloca_once(like.builder, llvm_type(dtype), size=INDEX(size))
    return Memory(like.builder, data, dtype, (size,))


def cond(chosen, then, otherwise=None):
    """Run ``then()`` if a truth value holds, else ``otherwise()``; return what it returns.

    Both return values of the same dtypes and sizes, as a sequence, or None. While a function is
    traced both are recorded, and with ``then`` alone nothing is returned.
    """
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
    # A phi is a value that depends on the block that the kernel comes from.
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
        values = [_as_vector(builder, value) for value in values]
        self.dtypes = [value.dtype for value in values]
        self.slots = [cgutils.alloca_once_value(builder, value.value) for value in values]

    def read(self):
        places = zip(self.slots, self.dtypes, strict=True)
        return [Vector(self.builder, self.builder.load(slot), dtype) for slot, dtype in places]

    def write(self, values):
        for slot, value in zip(self.slots, values, strict=True):
            self.builder.store(value.value, slot)


def _as_vector(builder, value):
    """Return a number of Python's or NumPy's as a Vector of its dtype."""
    if isinstance(value, Vector):
        return value
    return Vector(builder, llvm_type(np.dtype(type(value)))(value), type(value))


def fori(stop, body, *carried, start=0, step=1):
    """Run ``body(i, *carried)`` for i in ``range(start, stop, step)``; return the last ``carried``.

    ``body`` returns what it gets as ``carried`` at the next i, or None if that is nothing. What
    begins as a Python integer is an int64, as a NumPy number of its dtype. ``step`` is positive.
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
    first, last, by = (x.value if isinstance(x, Vector) else INDEX(x) for x in (start, stop, step))
    with cgutils.for_range_slice(builder, first, last, by, inc=True) as (i, _):
        values.write(body(Vector(builder, i, np.int64), *values.read()) or ())
    return values.read()


def each_register(count, dtype, body):
    """Run ``body(at, size)`` on each ``size`` of ``count`` elements, those from ``at`` on.

    ``size`` is a register's lanes, or 1 for what does not fill a register.
    """
    size = lanes(dtype)
    whole = count - count % size
    fori(whole, lambda at: body(at, size), step=size)
    fori(count, lambda at: body(at, 1), start=whole)


def while_loop(test, body, *carried):
    """Run ``body(*carried)``, which returns the next ones, while ``test(*carried)`` is true.

    Returns the last ``carried``. What begins as a Python integer is an int64; one of them at least
    is known only when the kernel runs: of numbers known before, the loop is unrolled.
    """
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
    arguments' types that returns this type.
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

        def typed(_context, *argument_types):
            """Return the signature for arguments of these numba types, and what generates code."""
            literals = {
                name: type_.literal_value
                for name, type_ in zip(names, argument_types, strict=True)
                if name in static and type_ != types.none
            }
            # Numbers that happen to be literals are numbers like others, unless they are static.
            accepted = [
                type_ if name in static else types.unliteral(type_)
                for name, type_ in zip(names, argument_types, strict=True)
            ]
            result_type = returns if isinstance(returns, types.Type) else returns(*accepted)

            def generate(context, builder, call, values):
                arguments = [
                    literals[name]
                    if name in literals
                    else _stand_in(context, builder, type_, value)
                    for name, type_, value in zip(names, call.args, values, strict=True)
                ]
                result = function(*arguments)
                return _for_numba(context, builder, result_type, result)

            return result_type(*accepted), generate

        # numba asks a function for the names of its parameters.
        typed.__name__ = function.__name__
        typed.__signature__ = signature.replace(
            parameters=[
                inspect.Parameter("_context", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                *signature.parameters.values(),
            ]
        )
        compiled = intrinsic(prefer_literal=True)(typed)
        compiled.plain = plain
        return compiled

    return decorate


def _plain(argument):
    """Return an argument as a function gets it without the compiler."""
    if isinstance(argument, tuple):
        return tuple(map(_plain, argument))
    # What ``select`` returns of two numbers is an array without axes.
    is_array = isinstance(argument, np.ndarray) and argument.ndim > 0
    return PlainMemory(argument) if is_array else argument


def _stand_in(context, builder, type_, value):
    """Return what stands for an argument of a numba type while a function is traced."""
    if isinstance(type_, types.Array):
        if type_.layout != "C":
            raise TypeError(f"traced functions take C-ordered arrays, got {type_}")
        array = context.make_array(type_)(context, builder, value)
        shape = tuple(
            Vector(builder, builder.extract_value(array.shape, axis), np.int64)
            for axis in range(type_.ndim)
        )
        return Memory(builder, array.data, as_dtype(type_.dtype), shape)
    if isinstance(type_, types.CPointer):
        return Memory(builder, value, as_dtype(type_.dtype))
    if isinstance(type_, types.NoneType):
        return None
    if isinstance(type_, types.BaseTuple):
        return tuple(
            _stand_in(context, builder, part, builder.extract_value(value, i))
            for i, part in enumerate(type_)
        )
    if isinstance(type_, types.Boolean):
        if value.type.width > 1:
            # Inside a tuple a truth value takes a byte.
            value = builder.trunc(value, ir.IntType(1))
        return Vector(builder, value, np.bool_)
    return Vector(builder, value, as_dtype(types.unliteral(type_)))


def _for_numba(context, builder, type_, value):
    """Return the result of a traced function as numba's value of a type."""
    if type_ == types.none:
        return context.get_dummy_value()
    if isinstance(type_, types.BaseTuple):
        parts = [_for_numba(context, builder, *part) for part in zip(type_, value, strict=True)]
        return context.make_tuple(builder, type_, parts)
    if not isinstance(value, Vector):
        return context.get_constant(type_, value)
    return value.astype(as_dtype(type_)).value


@traced(returns=types.int64)
def register_lanes(array):
    """Return how many elements of an array fill a register: a constant in compiled kernels."""
    return lanes(array.dtype)
