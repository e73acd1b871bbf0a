"""Direct dimension exchange: every line of an axis is balanced at once (Wu-Shu Figs 3-10).

Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line,
``W`` trials side by side.

A bundle is ``LANES`` lines of an axis, row i holding their nodes i: sums, quotas, flows, the
ring's median and the rounds are steps from row to row, in vector registers. Where lines lie side
by side their rows are balanced in place; lines along the last axis are transposed in blocks;
others are gathered. The few lines that fill no bundle are balanced one by one, by the same code
in vectors of one lane.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import lower_builtin, models, register_model, type_callable

LANES = 16
# The lanes of a bundle and of a single line: how many is known when the code is compiled.
BUNDLE = ((),) * LANES
LINE = ((),)
# Rings up to this length have their middle found in registers.
FEW = 16
# Places for sums: of a bundle, and of what is left of it.
ROOM = 2 * LANES
LARGEST = np.int64(2**63 - 1)
NOISE = 4 * 2.0**-52


class Memory(types.Type):
    """Where the data of an array begins; without a compiler, the array.

    Arrays as such count who holds them, at every call and name: more than half of all time.
    """

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"Memory({dtype})")


@register_model(Memory)
class MemoryModel(models.PrimitiveModel):
    """A pointer."""

    def __init__(self, manager, memory):
        super().__init__(manager, memory, manager.lookup(memory.dtype).get_data_type().as_pointer())


class Vector(types.Type):
    """Values of one dtype in a vector register; without a compiler, an array."""

    def __init__(self, dtype, width):
        self.dtype = dtype
        self.width = width
        super().__init__(f"Vector({dtype}, {width})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """A vector of LLVM; of a comparison, one of bits."""

    def __init__(self, manager, vector):
        mask = vector.dtype == types.boolean
        one = ir.IntType(1) if mask else manager.lookup(vector.dtype).get_value_type()
        super().__init__(manager, vector, ir.VectorType(one, vector.width))


def _memory(array):
    return array.reshape(-1)


def _hold(arrays):
    """Keep arrays until here: their memory goes back as soon as no line names them any more."""


def _part(memory, at):
    """Return the memory from index ``at`` on."""
    return memory[at:]


def _value(memory, at):
    return memory[at]


def _set(memory, at, value):
    memory[at] = value


def _read(memory, at, lanes):
    """Return the values from index ``at`` on, one a lane."""
    return memory[at : at + len(lanes)].copy()


def _write(memory, at, vector):
    memory[at : at + len(vector)] = vector


def _where(mask, a, b):
    return np.where(mask, a, b)


def _least(a, b):
    return np.minimum(a, b)


def _most(a, b):
    return np.maximum(a, b)


def _floats(vector):
    return vector.astype(np.float64)


def _converted(vector, like):
    """Return a vector in the dtype of another; floats are cut down to integers."""
    return vector.astype(like.dtype)


def _bits(vector):
    """Return floats as the int64 that are stored in their place."""
    return vector.view(np.int64) if vector.dtype.kind == "f" else vector


def _of_bits(vector, like):
    return vector.view(like.dtype)


def _places(vector):
    """Return 0, 1, 2, .. in a vector of the same dtype."""
    return np.arange(len(vector)).astype(vector.dtype)


def _any(mask):
    return bool(mask.any())


def _is_real(vector):
    return vector.dtype.kind == "f"


def _is_long(vector):
    return vector.dtype == np.int64


def _transpose(source, at, step, target, to, apart):
    """Copy a square of ``LANES`` rows ``step`` apart to one of columns ``apart`` apart."""
    for r in range(LANES):
        for c in range(LANES):
            target[to + c * apart + r] = source[at + r * step + c]


def _middle_of_few(flows, lanes):
    """Return the middle two of ``FEW`` rows."""
    width = len(lanes)
    rows = np.sort(flows[: FEW * width].reshape(FEW, width), axis=0)
    return rows[FEW // 2 - 1], rows[FEW // 2]


def median_comparators(k):
    """Return comparators (low, high) that put the middle one or two of k values in place.

    Batcher's merge exchange, without the comparators that the middle does not depend on.
    """
    network = []
    p = top = 1 << max(0, (k - 1).bit_length() - 1)
    while p > 0:
        q, r, d = top, 0, p
        while True:
            network += [(i, i + d) for i in range(k - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    needed = {(k - 1) // 2, k // 2}
    pruned = []
    for low, high in reversed(network):
        if low in needed or high in needed:
            needed |= {low, high}
            pruned.append((low, high))
    return pruned[::-1]


def _compiled_to(function, typer):
    """Compile calls of a function to the instructions that the decorated function builds."""
    type_callable(function)(lambda _context: typer)
    return lower_builtin(function, types.VarArg(types.Any))


def _place(context, builder, memory, data, index, width):
    vector = ir.VectorType(context.get_data_type(memory.dtype), width)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _index(context, builder, signature, arguments, number):
    return context.cast(builder, arguments[number], signature.args[number], types.intp)


def _filled(context, builder, given, value, vector):
    """Build a vector of one value; what is a vector already stays."""
    if isinstance(given, Vector):
        return value
    one = context.cast(builder, value, given, vector.dtype)
    empty = ir.Constant(context.get_value_type(vector), ir.Undefined)
    first = builder.insert_element(empty, one, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.width), None)
    return builder.shuffle_vector(first, empty, zeros)


def _build_converted(builder, value, given, wanted):
    """Build a vector of another dtype; what is real is cut down to integers."""
    if given == wanted:
        return value
    real, becomes_real = isinstance(given, types.Float), isinstance(wanted, types.Float)
    wider = given.bitwidth < wanted.bitwidth
    if becomes_real:
        one = ir.DoubleType() if wanted.bitwidth == 64 else ir.FloatType()
        name = ("fpext" if wider else "fptrunc") if real else "sitofp"
    else:
        one = ir.IntType(wanted.bitwidth)
        if given.bitwidth == wanted.bitwidth and not real:
            return value
        name = "fptosi" if real else "trunc" if not wider else "sext" if given.signed else "zext"
    return getattr(builder, name)(value, ir.VectorType(one, value.type.count))


@_compiled_to(_memory, lambda array: Memory(array.dtype))
def _build_memory(context, builder, signature, arguments):
    return context.make_array(signature.args[0])(context, builder, arguments[0]).data


@_compiled_to(_hold, lambda arrays: types.none)
def _build_hold(context, _builder, _signature, _arguments):
    return context.get_dummy_value()


@_compiled_to(_part, lambda memory, at: memory)
def _build_part(context, builder, signature, arguments):
    return builder.gep(arguments[0], [_index(context, builder, signature, arguments, 1)])


@_compiled_to(_value, lambda memory, at: memory.dtype)
def _build_value(context, builder, signature, arguments):
    index = _index(context, builder, signature, arguments, 1)
    return builder.load(builder.gep(arguments[0], [index]))


@_compiled_to(_set, lambda memory, at, value: types.none)
def _build_set(context, builder, signature, arguments):
    index = _index(context, builder, signature, arguments, 1)
    value = context.cast(builder, arguments[2], signature.args[2], signature.args[0].dtype)
    builder.store(value, builder.gep(arguments[0], [index]))
    return context.get_dummy_value()


@_compiled_to(_read, lambda memory, at, lanes: Vector(memory.dtype, len(lanes)))
def _build_read(context, builder, signature, arguments):
    memory, width = signature.args[0], signature.return_type.width
    index = _index(context, builder, signature, arguments, 1)
    place = _place(context, builder, memory, arguments[0], index, width)
    return builder.load(place, align=memory.dtype.bitwidth // 8)


@_compiled_to(_write, lambda memory, at, vector: types.none)
def _build_write(context, builder, signature, arguments):
    memory, _, vector = signature.args
    index = _index(context, builder, signature, arguments, 1)
    place = _place(context, builder, memory, arguments[0], index, vector.width)
    builder.store(arguments[2], place, align=memory.dtype.bitwidth // 8)
    return context.get_dummy_value()


@_compiled_to(_where, lambda mask, a, b: a if isinstance(a, Vector) else b)
def _build_where(context, builder, signature, arguments):
    a, b = (
        _filled(context, builder, given, value, signature.return_type)
        for given, value in zip(signature.args[1:], arguments[1:], strict=True)
    )
    return builder.select(arguments[0], a, b)


@_compiled_to(_floats, lambda vector: Vector(types.float64, vector.width))
@_compiled_to(_converted, lambda vector, like: like)
def _build_conversion(_context, builder, signature, arguments):
    return _build_converted(
        builder, arguments[0], signature.args[0].dtype, signature.return_type.dtype
    )  # fmt: skip


@_compiled_to(
    _bits,
    lambda vector: (
        Vector(types.int64, vector.width) if isinstance(vector.dtype, types.Float) else vector
    ),
)
@_compiled_to(_of_bits, lambda vector, like: like)
def _build_view(context, builder, signature, arguments):
    return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))


@_compiled_to(_places, lambda vector: vector)
def _build_places(context, _builder, signature, _arguments):
    vector = signature.return_type
    return ir.Constant(context.get_value_type(vector), list(range(vector.width)))


@_compiled_to(_any, lambda mask: types.boolean)
def _build_any(_context, builder, signature, arguments):
    bits = ir.IntType(signature.args[0].width)
    return builder.icmp_unsigned("!=", builder.bitcast(arguments[0], bits), ir.Constant(bits, 0))


@_compiled_to(_is_real, lambda vector: types.boolean)
def _build_is_real(_context, _builder, signature, _arguments):
    return ir.Constant(ir.IntType(1), isinstance(signature.args[0].dtype, types.Float))


@_compiled_to(_is_long, lambda vector: types.boolean)
def _build_is_long(_context, _builder, signature, _arguments):
    return ir.Constant(ir.IntType(1), signature.args[0].dtype == types.int64)


@_compiled_to(_transpose, lambda source, at, step, target, to, apart: types.none)
def _build_transpose(context, builder, signature, arguments):
    """Build four rounds of shuffles; loops take 1.2 ns a load, these 0.3.

    Round by round, halves of 8, 4, 2 and 1 that lie off the diagonal change places.
    """
    source, target = signature.args[0], signature.args[3]

    def places(number):
        first = _index(context, builder, signature, arguments, number + 1)
        step = _index(context, builder, signature, arguments, number + 2)
        for _ in range(LANES):
            yield _place(context, builder, signature.args[number], arguments[number], first, LANES)
            first = builder.add(first, step)

    read, written = source.dtype.bitwidth // 8, target.dtype.bitwidth // 8
    rows = [
        _build_converted(builder, builder.load(place, align=read), source.dtype, target.dtype)
        for place in places(0)
    ]
    mask = ir.VectorType(ir.IntType(32), LANES)
    for half in (8, 4, 2, 1):
        upper = [lane if not lane & half else LANES + lane - half for lane in range(LANES)]
        lower = [lane + half if not lane & half else LANES + lane for lane in range(LANES)]
        for r in range(LANES):
            if not r & half:
                a, b = rows[r], rows[r + half]
                rows[r] = builder.shuffle_vector(a, b, ir.Constant(mask, upper))
                rows[r + half] = builder.shuffle_vector(a, b, ir.Constant(mask, lower))
    for row, place in zip(rows, places(3), strict=True):
        builder.store(row, place, align=written)
    return context.get_dummy_value()


@_compiled_to(
    _middle_of_few, lambda flows, lanes: types.UniTuple(Vector(flows.dtype, len(lanes)), 2)
)
def _build_middle_of_few(context, builder, signature, arguments):
    """Build the comparators in a row: out of a table they take four times as long."""
    vector = signature.return_type.dtype
    real = isinstance(vector.dtype, types.Float)
    compare = builder.fcmp_ordered if real else builder.icmp_signed
    rows = []
    for i in range(FEW):
        index = ir.Constant(ir.IntType(64), i * vector.width)
        place = _place(context, builder, signature.args[0], arguments[0], index, vector.width)
        rows.append(builder.load(place, align=vector.dtype.bitwidth // 8))
    for low, high in median_comparators(FEW):
        a, b = rows[low], rows[high]
        rows[low] = builder.select(compare("<", a, b), a, b)
        rows[high] = builder.select(compare(">", a, b), a, b)
    middle = rows[FEW // 2 - 1 : FEW // 2 + 1]
    return context.make_tuple(builder, signature.return_type, middle)


def _type_of_two(a, b):
    """Return the vector that two vectors, or a vector and a number, are combined in."""
    if not all(isinstance(given, Vector | types.Number) for given in (a, b)):
        return None
    return next((given for given in (a, b) if isinstance(given, Vector)), None)


def _compile_two(function, on_integers, on_reals, comparison=""):
    """Compile a function of two vectors, or a vector and a number, to one instruction."""

    def typer(a, b):
        vector = _type_of_two(a, b)
        compares = vector is not None and function in COMPARISONS
        return Vector(types.boolean, vector.width) if compares else vector

    def build(context, builder, signature, arguments):
        vector = _type_of_two(*signature.args)
        a, b = (
            _filled(context, builder, given, value, vector)
            for given, value in zip(signature.args, arguments, strict=True)
        )
        name = on_reals if isinstance(vector.dtype, types.Float) else on_integers
        if not comparison:
            return getattr(builder, name)(a, b)
        told = getattr(builder, name)(comparison, a, b)
        return told if function in COMPARISONS else builder.select(told, a, b)

    type_callable(function)(lambda _context: typer)
    for pair in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(function, *pair)(build)


COMPARISONS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}
for _operation, _sign in [*COMPARISONS.items(), (_least, "<"), (_most, ">")]:
    _compile_two(_operation, "icmp_signed", "fcmp_ordered", _sign)
_compile_two(operator.add, "add", "fadd")
_compile_two(operator.sub, "sub", "fsub")
_compile_two(operator.mul, "mul", "fmul")
_compile_two(operator.truediv, "sdiv", "fdiv")
_compile_two(operator.and_, "and_", "")
_compile_two(operator.or_, "or_", "")
_compile_two(operator.xor, "xor", "")
_compile_two(operator.rshift, "ashr", "")


@njit(cache=True, nogil=True)
def _added(sums, errors, values):
    """Return sums with values added; of floats also the rounding errors (Neumaier)."""
    both = sums + values
    if _is_real(values):
        taken = both - sums
        errors = errors + ((sums - (both - taken)) + (values - taken))
    return both, errors


@njit(cache=True, nogil=True)
def _find_quotas(lines, at, apart, k, lanes):
    """Return total, average and remainder of lines whose nodes i lie at ``at + i * apart``.

    For floats the average is the exact mean and the remainder 0.
    """
    first = _read(lines, at, lanes)
    total = first - first
    errors = total
    for i in range(k):
        total, errors = _added(total, errors, _read(lines, at + i * apart, lanes))
    if _is_real(total):
        total = total + errors
        return total, total / k, total - total
    part = 1.0 / k
    average = _converted(_floats(total) * part, total)
    remainder = total - average * k
    # Beyond 2**53 a quotient of floats may be far off; that of its remainder is off by one.
    more = _converted(_floats(remainder) * part, total)
    average = average + more
    remainder = remainder - more * k
    low = remainder < 0
    average = _where(low, average - 1, average)
    remainder = _where(low, remainder + k, remainder)
    high = remainder >= k
    average = _where(high, average + 1, average)
    remainder = _where(high, remainder - k, remainder)
    return total, average, remainder


@njit(cache=True, nogil=True)
def _find_flows(lines, at, apart, k, average, remainder, flows, lanes):
    """Set the flows of chains: row i from node i to i + 1, 0 on the wrap link."""
    surplus = average - average
    errors = surplus
    _write(flows, (k - 1) * len(lanes), surplus)
    for i in range(k - 1):
        more = _read(lines, at + i * apart, lanes) - average
        more = _where(remainder > i, more - 1, more)
        surplus, errors = _added(surplus, errors, more)
        _write(flows, i * len(lanes), surplus + errors if _is_real(surplus) else surplus)


@njit(cache=True, nogil=True)
def _ranked(flows, at, lanes):
    """Return flows as integers in the same order; twice that, they are as before."""
    bits = _bits(_read(flows, at, lanes))
    if _is_real(_read(flows, at, lanes)):
        bits = bits ^ ((bits >> 63) & LARGEST)
    return bits


@njit(cache=True, nogil=True)
def _middle_of_many(flows, k, lanes):
    """Return the middle one or two of k flows.

    The range of all lanes is halved at once: 30 passes in vectors beat one selection a lane.
    """
    width = len(lanes)
    rank = (k - 1) // 2
    least = _ranked(flows, 0, lanes)
    most = least
    for i in range(1, k):
        flow = _ranked(flows, i * width, lanes)
        least = _least(least, flow)
        most = _most(most, flow)
    top = most
    none = top - top
    while _any(least < top):
        middle = (least & top) + ((least ^ top) >> 1)
        count = none
        for i in range(k):
            count = _where(_ranked(flows, i * width, lanes) <= middle, count + 1, count)
        enough = count > rank
        top = _where(enough, middle, top)
        least = _where(enough, least, middle + 1)
    count = none
    above = most
    for i in range(k):
        flow = _ranked(flows, i * width, lanes)
        count = _where(flow <= least, count + 1, count)
        above = _where(flow > least, _least(above, flow), above)
    above = _where(count > k // 2, least, above)
    like = _read(flows, 0, lanes)
    if _is_real(like):
        least = least ^ ((least >> 63) & LARGEST)
        above = above ^ ((above >> 63) & LARGEST)
    return _of_bits(least, like), _of_bits(above, like)


@njit(cache=True, nogil=True)
def _ring_shift(flows, k, ring, total, spare, lanes):
    """Return x_m, what the ring subtracts from each of its flows (Fig. 8, step 1).

    The paper's rule in terms of the two middle flows: the upper one if more than half the
    flows are positive, that is if the lower one is; the lower one if more than half are
    negative; else 0. ``ring`` holds the comparators that find them in longer rings, if any.
    """
    width = len(lanes)
    _, sorters, begin, end = ring
    if k <= FEW:
        # Half of the rows that are missing are as low as any flow, half as high.
        most = total + total if _is_real(total) else total
        for i in range(k, FEW):
            _write(flows, i * width, 0 - most if i < FEW // 2 + k // 2 else most)
        lower, upper = _middle_of_few(flows, lanes)
        upper = lower if k % 2 else upper
    elif begin < end:
        for i in range(k):
            _write(spare, i * width, _read(flows, i * width, lanes))
        for c in range(begin, end):
            low, high = _value(sorters, 2 * c) * width, _value(sorters, 2 * c + 1) * width
            a, b = _read(spare, low, lanes), _read(spare, high, lanes)
            _write(spare, low, _least(a, b))
            _write(spare, high, _most(a, b))
        lower = _read(spare, (k - 1) // 2 * width, lanes)
        upper = _read(spare, k // 2 * width, lanes)
    else:
        lower, upper = _middle_of_many(flows, k, lanes)
    return _where(lower > 0, upper, _where(upper < 0, lower, 0))


@njit(cache=True, nogil=True)
def _settle_flows(flows, k, shift, noise, ring, lanes):
    """Subtract the shift; return the lines' units, -1 beyond int64, and their rounds.

    Flows of no more than ``noise`` are rounding and become 0. The rounds are those of
    receive-before-send: the longest run of flows in one direction, for a node passes on what
    comes along its line in the round after, and runs do not hinder each other. On a ring a run
    may go on over the wrap link; no ring has all its flows in one direction.
    """
    width = len(lanes)
    none = shift - shift
    units = none
    over = none > 0
    rising, falling, rounds = none, none, none
    # The runs that begin at node 0, and whether they go on.
    first_up, first_down = none, none
    all_up = none <= none
    all_down = all_up
    for i in range(k):
        flow = _read(flows, i * width, lanes) - shift
        size = _where(flow < 0, 0 - flow, flow)
        if _is_real(flow):
            flow = _where(size > noise, flow, 0)
            size = _where(size > noise, size, 0)
        _write(flows, i * width, flow)
        if _is_long(flow):
            over = over | (size > LARGEST - units)
            units = _least(units, LARGEST - size)
        units = units + size
        up = flow > 0
        down = flow < 0
        rising = _where(up, rising + 1, 0)
        falling = _where(down, falling + 1, 0)
        rounds = _most(rounds, _most(rising, falling))
        if ring:
            all_up = all_up & up
            all_down = all_down & down
            first_up = _where(all_up, rising, first_up)
            first_down = _where(all_down, falling, first_down)
    rounds = _most(rounds, _where(rising > 0, rising + first_up, 0))
    rounds = _most(rounds, _where(falling > 0, falling + first_down, 0))
    return _where(over, -1, units), rounds


@njit(cache=True, nogil=True)
def _send_first_rounds(lines, kept, pending, arrived, k, slack, changed, lanes):
    """Simulate send-before-receive (Fig. 6): a link's whole flow once a node holds as much.

    A node serves its lower link before its upper one, and gives away foreign units first.
    ``lines`` (loads) and ``pending`` (flows) are used up, ``kept`` is what never left. Only rows
    to which something has come are looked at again: ``changed`` (3, k) lists them, now and
    next, and says in which round a row was last listed. Returns the rounds.
    """
    width = len(lanes)
    none = slack - slack
    rounds = none
    now, following, listed = 0, k, 2 * k
    for i in range(k):
        _write(arrived, i * width, none)
        _set(changed, now + i, i)
        _set(changed, listed + i, 0)
    count = k
    made = 0
    while count > 0:
        made += 1
        sending = none > 0
        reached = 0
        for c in range(count):
            i = _value(changed, now + c)
            below = i - 1 if i > 0 else k - 1
            above = i + 1 if i < k - 1 else 0
            held = _read(lines, i * width, lanes)
            down = 0 - _read(pending, below * width, lanes)
            goes_down = (down > 0) & (held + slack >= down)
            down = _where(goes_down, down, 0)
            held = held - down
            up = _read(pending, i * width, lanes)
            goes_up = (up > 0) & (held + slack >= up)
            up = _where(goes_up, up, 0)
            held = held - up
            _write(lines, i * width, held)
            least = _least(_read(kept, i * width, lanes), _most(held, 0))
            _write(kept, i * width, least)
            sending = sending | goes_down | goes_up
            for node, link, sent, goes in (
                (below, below, down, goes_down), (above, i, up, goes_up)
            ):  # fmt: skip
                if not _any(goes):
                    continue
                _write(arrived, node * width, _read(arrived, node * width, lanes) + sent)
                left = _where(goes, 0, _read(pending, link * width, lanes))
                _write(pending, link * width, left)
                if _value(changed, listed + node) < made:
                    _set(changed, listed + node, made)
                    _set(changed, following + reached, node)
                    reached += 1
        for c in range(reached):
            at = _value(changed, following + c) * width
            _write(lines, at, _read(lines, at, lanes) + _read(arrived, at, lanes))
            _write(arrived, at, none)
        rounds = _where(sending, rounds + 1, rounds)
        now, following = following, now
        count = reached
    return rounds


@njit(cache=True, nogil=True)
def _gather(memory, first, gap, starts, stride, k, lines, lanes):
    """Copy lines into rows: line u begins at ``first + u * gap`` and goes on in ``stride``.

    ``gap`` is 1, or k with a stride of 1; if it is 0 the lines begin at ``starts``.
    """
    width = len(lanes)
    if width == 1 or gap == 1:
        for i in range(k):
            _write(lines, i * width, _read(memory, first + i * stride, lanes))
        return
    whole = k // LANES * LANES if gap == k else 0
    for i in range(0, whole, LANES):
        _transpose(memory, first + i, k, lines, i * LANES, LANES)
    for u in range(width):
        at = first + u * gap if gap > 0 else _value(starts, u)
        for i in range(whole, k):
            _set(lines, i * width + u, _value(memory, at + i * stride))


@njit(cache=True, nogil=True)
def _scatter(lines, first, gap, starts, stride, k, memory, lanes):
    """Copy rows back to the lines; see ``_gather``."""
    width = len(lanes)
    if width == 1 or gap == 1:
        for i in range(k):
            _write(memory, first + i * stride, _read(lines, i * width, lanes))
        return
    whole = k // LANES * LANES if gap == k else 0
    for i in range(0, whole, LANES):
        _transpose(lines, i * LANES, LANES, memory, first + i, k)
    for u in range(width):
        at = first + u * gap if gap > 0 else _value(starts, u)
        for i in range(whole, k):
            _set(memory, at + i * stride, _value(lines, i * width + u))


@njit(cache=True, nogil=True)
def _write_quotas(
    memory, kept, keeps, first, gap, starts, stride, k, average, remainder, spare, lanes
):
    """Give every node its quota; if ``keeps``, and ``kept`` is not None, it keeps no more."""
    width = len(lanes)
    if width == 1 or gap == 1:
        for i in range(k):
            at = first + i * stride
            quota = _where(remainder > i, average + 1, average)
            _write(memory, at, quota)
            if kept is not None and keeps:
                _write(kept, at, _least(quota, _read(kept, at, lanes)))
        return
    _write(spare, 0, average)
    _write(spare, width, remainder)
    whole = k // LANES * LANES if gap == k else 0
    for u in range(width):
        at = first + u * gap if gap > 0 else _value(starts, u)
        less = average - average + _value(spare, u)
        rest = _value(spare, width + u)
        for i in range(0, whole, LANES):
            quota = _where(_places(average) < rest - i, less + 1, less)
            _write(memory, at + i, quota)
            if kept is not None and keeps:
                _write(kept, at + i, _least(quota, _read(kept, at + i, lanes)))
        for i in range(whole, k):
            quota = _value(spare, u) + (i < rest)
            _set(memory, at + i * stride, quota)
            if kept is not None and keeps:
                _set(kept, at + i * stride, min(quota, _value(kept, at + i * stride)))


@njit(cache=True, nogil=True)
def _balance(
    loads, kept, flows, wanted, size, k, stride, ring, send_first, scratch, waits, lanes
):  # fmt: skip
    """Balance lines of an axis (outer, k, stride) in place; measure unless ``kept`` is None.

    In lanes of a bundle all lines but the last that fill none, whose number is returned; in
    lanes of one line those that wait. Units and rounds in ``scratch`` receive what each line
    moves, -1 beyond int64, and how many rounds it takes.
    """
    lines, found, spare, lines_kept, changed, waiting, starts, units, rounds, _ = scratch
    width = len(lanes)
    count = size // k
    line = 0
    outer = 0
    inner = 0
    while True:
        if width == 1:
            if waits == 0:
                break
            waits -= 1
            first, gap, place = _value(starts, waits), 1, _value(waiting, waits)
        else:
            if line == count:
                break
            first, gap, place = outer + inner, 0, line
            if stride - inner >= LANES:
                gap = 1
                inner += LANES
            elif stride == 1 and count - line >= LANES:
                gap = k
                outer += LANES * k
            else:
                inner += 1
            if inner == stride:
                inner = 0
                outer += k * stride
            line += LANES if gap > 0 else 1
            if gap == 0:
                _set(starts, waits, first)
                _set(waiting, waits, place)
                waits += 1
                if waits < LANES:
                    continue
                waits = 0
                place = count
        rows, at, apart = loads, first, stride
        if gap != 1 or send_first:
            _gather(loads, first, gap, starts, stride, k, lines, lanes)
            rows, at, apart = lines, 0, width
        total, average, remainder = _find_quotas(rows, at, apart, k, lanes)
        if kept is not None:
            _find_flows(rows, at, apart, k, average, remainder, found, lanes)
            # Sums are compensated, so the noise is the rounding of the mean and of load - mean.
            noise = _converted(_floats(total) * NOISE, total)
            shift = total - total
            if ring[0]:
                shift = _ring_shift(found, k, ring, total, spare, lanes)
            sent, taken = _settle_flows(found, k, shift, noise, ring[0], lanes)
            if wanted:
                _scatter(found, first, gap, starts, stride, k, flows, lanes)
            if send_first:
                _gather(kept, first, gap, starts, stride, k, lines_kept, lanes)
                slack = noise if _is_real(noise) else shift - shift
                taken = _send_first_rounds(
                    lines, lines_kept, found, spare, k, slack, changed, lanes
                )  # fmt: skip
                _scatter(lines_kept, first, gap, starts, stride, k, kept, lanes)
            _write(units, place, sent)
            _write(rounds, place, taken)
            if gap == 0:
                for u in range(LANES):
                    _set(units, _value(waiting, u), _value(units, count + u))
                    _set(rounds, _value(waiting, u), _value(rounds, count + u))
        _write_quotas(
            loads, kept, not send_first, first, gap, starts, stride, k, average,
            remainder, spare, lanes,
        )  # fmt: skip
    return waits


@njit(cache=True, nogil=True)
def _reduce(added, ranked, also, begin, end, step, figures, place, lanes):
    """Set the sum of ``added``, the least of ``ranked`` and the most of ``also``, lane by lane.

    They go to ``place``, ``place + ROOM`` and ``place + 2 * ROOM`` of ``figures``. A sum beyond
    int64, or of what is beyond, is -1.
    """
    total = _read(added, begin, lanes)
    least, most = _read(ranked, begin, lanes), _read(also, begin, lanes)
    over = total < 0
    for at in range(begin + step, end, step):
        value = _read(added, at, lanes)
        if _is_long(value):
            over = over | (value < 0) | (value > LARGEST - total)
        total = total + value
        least = _least(least, _read(ranked, at, lanes))
        most = _most(most, _read(also, at, lanes))
    if _is_long(total):
        total = _where(over, -1, total)
    _write(figures, place, total)
    _write(figures, place + ROOM, least)
    _write(figures, place + 2 * ROOM, most)


@njit(cache=True, nogil=True)
def _sum_up(added, ranked, size, first, W, figures):
    """Set sum of ``added``, least and most of ``ranked`` (size, W), of networks ``first`` on.

    See ``_reduce``; a single network's are in place 0. Floats are added up in order.
    """
    if W > 1:
        _reduce(added, ranked, ranked, first, size * W, W, figures, 0, BUNDLE)
        return
    whole = 0 if _is_real(_read(added, 0, LINE)) else size // LANES * LANES
    parts = 0
    if whole > 0:
        _reduce(added, ranked, ranked, 0, whole, LANES, figures, 0, BUNDLE)
        parts = LANES
    if whole < size:
        _reduce(added, ranked, ranked, whole, size, 1, figures, parts, LINE)
        parts += 1
    _reduce(
        figures, _part(figures, ROOM), _part(figures, 2 * ROOM), 0, parts, 1, figures, 0, LINE
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _axis(loads, kept, flows, wanted, N, W, grid, a, send_first, scratch):
    """Balance axis ``a`` of networks (N, W) in place; return how many lines a network has there.

    ``kept`` is None if only loads are wanted. An axis of length 1 has no lines.
    """
    shape, wrap, sorters, begins = grid
    k = _value(shape, a)
    if k == 1:
        if wanted:
            for i in range(N * W):
                _set(flows, i, 0)
        return 0
    outer = 1
    for before in range(a):
        outer *= _value(shape, before)
    stride = N // (outer * k) * W
    ring = (
        _value(wrap, a) != 0 and k > 2, sorters, _value(begins, a), _value(begins, a + 1)
    )  # fmt: skip
    waits = _balance(
        loads, kept, flows, wanted, N * W, k, stride, ring, send_first, scratch, 0, BUNDLE
    )
    _balance(loads, kept, flows, wanted, N * W, k, stride, ring, send_first, scratch, waits, LINE)
    return N // k


@njit(cache=True, nogil=True)
def _tally(scratch, lines, W, trials, moved, rounds, first, S):
    """Set units and rounds of ``trials`` networks from those of an axis' lines (lines, W)."""
    line_units, line_rounds, sums = scratch[7:]
    for part in range(0, W, LANES):
        _sum_up(line_units, line_rounds, lines, part, W, sums)
        for w in range(part, min(part + LANES, trials)):
            _set(moved, first + w * S, _value(sums, w - part))
            _set(rounds, first + w * S, int(_value(sums, 2 * ROOM + w - part)))


@njit(cache=True, nogil=True)
def _scratch(N, W, shape, like):
    """Return memory for a bundle's rows, four times, and the simulation; for lines that wait.

    And for the units and rounds of lines, with room for a bundle behind them, and for sums.
    """
    rows, lines, longest = FEW * LANES, 0, 0
    for k in shape:
        if k > 1:
            count = N // k * W
            rows = max(rows, k * (LANES if count >= LANES else 1))
            lines = max(lines, count)
            longest = max(longest, k)
    return (
        np.empty((4, rows), like.dtype), np.empty(3 * longest, np.int64),
        np.empty((2, LANES), np.int64), np.empty((2, lines + LANES), like.dtype),
        np.empty(3 * ROOM, like.dtype),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _memories(scratch):
    """Return ``_scratch`` as memory; see ``_hold``."""
    rows, changed, waiting, lines, sums = scratch
    return (
        _memory(rows[0]), _memory(rows[1]), _memory(rows[2]), _memory(rows[3]), _memory(changed),
        _memory(waiting[0]), _memory(waiting[1]), _memory(lines[0]), _memory(lines[1]),
        _memory(sums),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _mark_negative(moved, over):
    for b in range(over.size):
        over[b] = False
        for s in range(moved.shape[1]):
            over[b] |= moved[b, s] < 0


@njit(cache=True, nogil=True)
def dde(tiles, kept, flows, shape, wrap, axes, sorters, starts, send_first, moved, rounds, over):
    """Balance every network of ``tiles`` (K, N, W) in place.

    ``tiles`` are int32, int64 or float64, in which every total fits, for int32 also the longest
    axis times every total. W is 1 or a multiple of ``LANES``. ``kept`` (K, N, W): units that
    never left, updated; None where only loads are wanted. ``flows`` (K, N, W): flow from each
    node to its successor, for a single axis; or None. All these are of one dtype. ``shape``,
    ``wrap`` (d,); ``axes`` (S,) in order. ``sorters`` (C, 2) are the comparators of each axis'
    ring, rows ``starts[a]`` to ``starts[a + 1]``; none where the ring is to be searched.
    ``moved`` and ``rounds`` (B, S) zeros receive units and rounds of each axis, ``over`` (B,)
    whether the units pass int64.
    """
    K, N, W = tiles.shape
    B, S = moved.shape
    arrays = _scratch(N, W, shape, tiles)
    scratch = _memories(arrays)
    grid = _memory(shape), _memory(wrap.view(np.uint8)), _memory(sorters), _memory(starts)
    for t in range(K):
        at = t * N * W
        loads = _part(_memory(tiles), at)
        found = loads if flows is None else _part(_memory(flows), at)
        for s in range(S):
            if kept is None:
                _axis(loads, None, found, False, N, W, grid, axes[s], send_first, scratch)
                continue
            lines = _axis(
                loads, _part(_memory(kept), at), found, flows is not None, N, W, grid, axes[s],
                send_first, scratch,
            )  # fmt: skip
            if lines > 0:
                _tally(
                    scratch, lines, W, min(W, B - t * W), _memory(moved), _memory(rounds),
                    t * W * S + s, S,
                )  # fmt: skip
    _hold(arrays)
    _mark_negative(moved, over)


@njit(cache=True, nogil=True)
def _copy(source, target, size):
    whole = size // LANES * LANES
    for i in range(0, whole, LANES):
        _write(target, i, _read(source, i, BUNDLE))
    for i in range(whole, size):
        _set(target, i, _value(source, i))


@njit(cache=True, nogil=True)
def _load(rows, first, trials, N, W, loads):
    """Copy networks ``first`` to ``first + trials - 1`` of rows (B, N) to loads (N, W)."""
    if W == 1:
        whole = N // LANES * LANES
        for i in range(0, whole, LANES):
            row = _read(rows, first * N + i, BUNDLE)
            _write(loads, i, _converted(row, _read(loads, i, BUNDLE)))
        for i in range(whole, N):
            _set(loads, i, _value(rows, first * N + i))
        return
    whole = N // LANES * LANES if trials == LANES else 0
    for i in range(0, whole, LANES):
        _transpose(rows, first * N + i, N, loads, i * W, W)
    for w in range(W):
        for i in range(whole, N):
            if w < trials:
                _set(loads, i * W + w, _value(rows, (first + w) * N + i))
            else:
                _set(loads, i * W + w, 0)


@njit(cache=True, nogil=True)
def _store(loads, trials, N, W, rows, first, apart):
    """Copy loads or flows (N, W) to rows, network w from index ``first + w * apart`` on."""
    if W == 1:
        whole = N // LANES * LANES
        for i in range(0, whole, LANES):
            row = _read(loads, i, BUNDLE)
            _write(rows, first + i, _converted(row, _read(rows, first + i, BUNDLE)))
        for i in range(whole, N):
            _set(rows, first + i, _value(loads, i))
        return
    whole = N // LANES * LANES if trials == LANES else 0
    for i in range(0, whole, LANES):
        _transpose(loads, i * W, W, rows, first + i, apart)
    for w in range(trials):
        for i in range(whole, N):
            _set(rows, first + w * apart + i, _value(loads, i * W + w))


@njit(cache=True, nogil=True)
def dde_rows(
    rows, result, flows, stages, tile, shape, wrap, sorters, starts, axes, send_first, moved,
    rounds, over, figures,
):  # fmt: skip
    """Balance the networks of ``rows`` (B, N) into ``result``, which may be the same.

    ``tile`` (1 to 3, N, W) is scratch of a dtype as of ``dde``'s tiles, W is 1 or ``LANES``. It
    is 1 for loads alone; then ``figures`` is None, and what comes before it is not looked at.
    Else ``moved``, ``rounds``, ``over`` are as for ``dde``, and ``figures`` (3, B) receives the
    units that never left, the least and the largest load. If it is 3, ``flows`` (B, d, N)
    receives those of every axis, and ``stages`` (S, B, N) the loads after each.
    """
    B, N = rows.shape
    W = tile.shape[2]
    S = axes.size
    T = rows.dtype.type
    arrays = _scratch(N, W, shape, tile)
    scratch = _memories(arrays)
    grid = _memory(shape), _memory(wrap.view(np.uint8)), _memory(sorters), _memory(starts)
    loads = _memory(tile)
    wanted = tile.shape[0] == 3
    found = _part(loads, 2 * N * W)
    for first in range(0, B, W):
        trials = min(W, B - first)
        _load(_memory(rows), first, trials, N, W, loads)
        if figures is None:
            for s in range(S):
                _axis(loads, None, found, False, N, W, grid, axes[s], send_first, scratch)
        else:
            kept = _part(loads, N * W)
            _copy(loads, kept, N * W)
            for s in range(S):
                a = axes[s]
                lines = _axis(loads, kept, found, wanted, N, W, grid, a, send_first, scratch)
                if lines > 0:
                    _tally(
                        scratch, lines, W, trials, _memory(moved), _memory(rounds), first * S + s,
                        S,
                    )  # fmt: skip
                if wanted:
                    place = (first * S + a) * N
                    _store(found, trials, N, W, _memory(flows), place, S * N)
                    place = (s * B + first) * N
                    _store(loads, trials, N, W, _memory(stages), place, N)
            sums = scratch[9]
            _sum_up(kept, loads, N, 0, W, sums)
            for w in range(trials):
                figures[0, first + w] = _value(sums, w)
                figures[1, first + w] = T(_value(sums, ROOM + w))
                figures[2, first + w] = T(_value(sums, 2 * ROOM + w))
        _store(loads, trials, N, W, _memory(result), first * N, N)
    if figures is not None:
        _mark_negative(moved, over)
    _hold(arrays)
