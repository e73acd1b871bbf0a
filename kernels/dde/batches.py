"""Direct dimension exchange: every line of an axis is balanced at once (Wu-Shu Figs 3-10).

Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line,
``W`` trials side by side: 1, or ``LANES``.

A bundle is ``LANES`` lines of an axis, row i holding their nodes i: sums, quotas, flows, the
ring's median and the rounds are steps from row to row, in vector registers. Where lines lie side
by side their rows are balanced in place; others are gathered, those along the last axis
transposed in blocks.

What a vector is, and what is done with one, comes first, in plain Python and as instructions.
All of it stands in this file, as numba's cache watches no other.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import lower_builtin, models, register_model, type_callable

# A cache line of int32; blocks are transposed in rounds for this number.
LANES = 16
# Rings up to this length have their middle found in registers. With 8 the 16x16x16 torus takes 1.8
# times as long, with 32 1.14, though rings of 24 and 32 then take 0.55 and 0.72.
FEW = 16
CACHE_LINE = 64
# Flows and stages of so many bytes are written past the caches, which saves reading what they
# are written over: 2.2 ns a node of 64 16x16x16 tori to 1.9, and 5.6 to 3.2 after other work.
STREAMED = 2**22
LARGEST = np.int64(2**63 - 1)
NOISE = 4 * 2.0**-52
# What is said of each axis.
NUMBER, LENGTH, STRIDE, IS_RING, FIRST_COMPARATOR, LAST_COMPARATOR = range(6)
COLUMNS = 6
# What is found of each network; from ``BEFORE`` on its total, least and most load before.
LOCAL, LEAST, MOST, BEFORE, FIGURES = 0, 1, 2, 3, 6
# In place of a network whose units do not fit: loads that were not looked at before do not.
REFUSED = -2


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
    """``LANES`` values of one dtype in a vector register; without a compiler, an array."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"Vector({dtype})")


MASK = Vector(types.boolean)


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """A vector of LLVM; of a comparison, one of bits."""

    def __init__(self, manager, vector):
        bit = ir.IntType(1)
        one = bit if vector == MASK else manager.lookup(vector.dtype).get_value_type()
        super().__init__(manager, vector, ir.VectorType(one, LANES))


def _memory(array):
    return array.reshape(-1)


def _aligned(memory):
    """Return the memory from the next cache line on, which needs up to ``LANES`` values more."""
    return memory


def _part(memory, at):
    """Return the memory from index ``at`` on."""
    return memory[at:]


def _value(memory, at):
    return memory[at]


def _set(memory, at, value):
    memory[at] = value


def _read(memory, at):
    """Return the values from index ``at`` on, one a lane."""
    return memory[at : at + LANES].copy()


def _write(memory, at, vector):
    memory[at : at + LANES] = vector


def _stream(memory, at, vector):
    """Write past the caches; ``_end_streams`` must follow.

    Index 0 lies at the beginning of a cache line or some whole vectors behind.
    """
    memory[at : at + LANES] = vector


def _end_streams():
    """Let others see what was streamed."""


def _filled(like, value):
    """Return a vector of one value, in the dtype of another."""
    return np.full_like(like, value)


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


def _middle_of_few(flows):
    """Return the middle two of ``FEW`` rows."""
    rows = np.sort(flows[: FEW * LANES].reshape(FEW, LANES), axis=0)
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


class _Call:
    """A call to be compiled: the types and values of its arguments, and where code is built."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.types, self.values = signature.args, arguments
        self.result = signature.return_type

    def index(self, number):
        return self.context.cast(
            self.builder, self.values[number], self.types[number], types.intp
        )  # fmt: skip

    def place(self, number, index):
        """Build where a vector of memory lies."""
        memory = self.types[number]
        vector = ir.VectorType(self.context.get_data_type(memory.dtype), LANES)
        first = self.builder.gep(self.values[number], [index])
        return self.builder.bitcast(first, vector.as_pointer()), memory.dtype.bitwidth // 8

    def read(self, number, index):
        place, align = self.place(number, index)
        return self.builder.load(place, align=align)

    def write(self, vector, number, index):
        place, align = self.place(number, index)
        self.builder.store(vector, place, align=align)

    def vector(self, number, vector):
        """Build an argument that is a vector, or one number for all lanes."""
        given, value = self.types[number], self.values[number]
        if isinstance(given, Vector):
            return value
        one = self.context.cast(self.builder, value, given, vector.dtype)
        empty = ir.Constant(self.context.get_value_type(vector), ir.Undefined)
        first = self.builder.insert_element(empty, one, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        return self.builder.shuffle_vector(first, empty, zeros)

    def converted(self, value, given, wanted):
        """Build a vector of another dtype; what is real is cut down to integers."""
        real, becomes_real = isinstance(given, types.Float), isinstance(wanted, types.Float)
        narrower = given.bitwidth > wanted.bitwidth
        if given.bitwidth == wanted.bitwidth and real == becomes_real:
            return value
        if becomes_real:
            name = "sitofp" if not real else "fptrunc" if narrower else "fpext"
        else:
            name = "fptosi" if real else "trunc" if narrower else "sext" if given.signed else "zext"
        one = self.context.get_data_type(wanted)
        return getattr(self.builder, name)(value, ir.VectorType(one, LANES))


def _compiled(function, typer, *kinds):
    """Compile calls of a function to the instructions that the decorated one builds."""

    def register(build):
        def lower(context, builder, signature, arguments):
            built = build(_Call(context, builder, signature, arguments))
            return context.get_dummy_value() if built is None else built

        type_callable(function)(lambda _context: typer)
        for given in kinds or [(types.VarArg(types.Any),)]:
            lower_builtin(function, *given)(lower)
        return build

    return register


@_compiled(_memory, lambda array: Memory(array.dtype))
def _build_memory(call):
    return call.context.make_array(call.types[0])(call.context, call.builder, call.values[0]).data


@_compiled(_aligned, lambda memory: memory)
def _build_aligned(call):
    word = call.context.get_value_type(types.intp)
    beyond = call.builder.add(call.builder.ptrtoint(call.values[0], word), word(CACHE_LINE - 1))
    place = call.builder.and_(beyond, word(-CACHE_LINE))
    return call.builder.inttoptr(place, call.values[0].type)


@_compiled(_part, lambda memory, at: memory)
def _build_part(call):
    return call.builder.gep(call.values[0], [call.index(1)])


@_compiled(_value, lambda memory, at: memory.dtype)
def _build_value(call):
    return call.builder.load(_build_part(call))


@_compiled(_set, lambda memory, at, value: types.none)
def _build_set(call):
    value = call.context.cast(call.builder, call.values[2], call.types[2], call.types[0].dtype)
    call.builder.store(value, _build_part(call))


@_compiled(_read, lambda memory, at: Vector(memory.dtype))
def _build_read(call):
    return call.read(0, call.index(1))


@_compiled(_write, lambda memory, at, vector: types.none)
def _build_write(call):
    call.write(call.values[2], 0, call.index(1))


@_compiled(_stream, lambda memory, at, vector: types.none)
def _build_stream(call):
    place, _ = call.place(0, call.index(1))
    whole = LANES * call.types[0].dtype.bitwidth // 8
    stored = call.builder.store(call.values[2], place, align=min(whole, CACHE_LINE))
    one = ir.Constant(ir.IntType(32), 1)
    stored.set_metadata("nontemporal", call.builder.module.add_metadata([one]))


@_compiled(_end_streams, lambda: types.none)
def _build_end_streams(call):
    call.builder.fence("seq_cst")


@_compiled(_filled, lambda like, value: like)
def _build_filled(call):
    return call.vector(1, call.result)


@_compiled(_where, lambda mask, a, b: a if isinstance(a, Vector) else b)
def _build_where(call):
    a, b = call.vector(1, call.result), call.vector(2, call.result)
    return call.builder.select(call.values[0], a, b)


@_compiled(_floats, lambda vector: Vector(types.float64))
@_compiled(_converted, lambda vector, like: like)
def _build_converted(call):
    return call.converted(call.values[0], call.types[0].dtype, call.result.dtype)


@_compiled(
    _bits,
    lambda vector: Vector(types.int64) if isinstance(vector.dtype, types.Float) else vector,
)
@_compiled(_of_bits, lambda vector, like: like)
def _build_view(call):
    return call.builder.bitcast(call.values[0], call.context.get_value_type(call.result))


@_compiled(_any, lambda mask: types.boolean)
def _build_any(call):
    bits = ir.IntType(LANES)
    return call.builder.icmp_unsigned(
        "!=", call.builder.bitcast(call.values[0], bits), ir.Constant(bits, 0)
    )


@_compiled(_is_real, lambda vector: types.boolean)
def _build_is_real(call):
    return ir.Constant(ir.IntType(1), isinstance(call.types[0].dtype, types.Float))


@_compiled(_is_long, lambda vector: types.boolean)
def _build_is_long(call):
    return ir.Constant(ir.IntType(1), call.types[0].dtype == types.int64)


@_compiled(_transpose, lambda source, at, step, target, to, apart: types.none)
def _build_transpose(call):
    """Build four rounds of shuffles; loops take 1.2 ns a load, these 0.3.

    Round by round, halves of 8, 4, 2 and 1 that lie off the diagonal change places.
    """

    def indices(number):
        index, step = call.index(number), call.index(number + 1)
        for _ in range(LANES):
            yield index
            index = call.builder.add(index, step)

    given, wanted = call.types[0].dtype, call.types[3].dtype
    rows = [call.converted(call.read(0, index), given, wanted) for index in indices(1)]
    mask = ir.VectorType(ir.IntType(32), LANES)
    for half in (8, 4, 2, 1):
        upper = [lane if not lane & half else LANES + lane - half for lane in range(LANES)]
        lower = [lane + half if not lane & half else LANES + lane for lane in range(LANES)]
        for r in range(LANES):
            if not r & half:
                a, b = rows[r], rows[r + half]
                rows[r] = call.builder.shuffle_vector(a, b, ir.Constant(mask, upper))
                rows[r + half] = call.builder.shuffle_vector(a, b, ir.Constant(mask, lower))
    for row, index in zip(rows, indices(4), strict=True):
        call.write(row, 3, index)


@_compiled(_middle_of_few, lambda flows: types.UniTuple(Vector(flows.dtype), 2))
def _build_middle_of_few(call):
    """Build the comparators in a row: out of a table they take four times as long."""
    real = isinstance(call.types[0].dtype, types.Float)
    compare = call.builder.fcmp_ordered if real else call.builder.icmp_signed
    rows = [call.read(0, ir.Constant(ir.IntType(64), i * LANES)) for i in range(FEW)]
    for low, high in median_comparators(FEW):
        a, b = rows[low], rows[high]
        rows[low] = call.builder.select(compare("<", a, b), a, b)
        rows[high] = call.builder.select(compare(">", a, b), a, b)
    middle = rows[FEW // 2 - 1 : FEW // 2 + 1]
    return call.context.make_tuple(call.builder, call.result, middle)


def _compile_two(function, on_integers, on_reals, sign=""):
    """Compile a function of two vectors, or a vector and a number, to one instruction.

    With a sign it is a comparison, or picks the value for which that holds.
    """

    def vector_of(a, b):
        if all(isinstance(given, Vector | types.Number) for given in (a, b)):
            return next((given for given in (a, b) if isinstance(given, Vector)), None)
        return None

    def typer(a, b):
        vector = vector_of(a, b)
        return MASK if vector and function in COMPARISONS else vector

    @_compiled(function, typer, (Vector, Vector), (Vector, types.Number), (types.Number, Vector))
    def build(call):
        vector = vector_of(*call.types)
        a, b = call.vector(0, vector), call.vector(1, vector)
        name = on_reals if isinstance(vector.dtype, types.Float) else on_integers
        if not sign:
            return getattr(call.builder, name)(a, b)
        holds = getattr(call.builder, name)(sign, a, b)
        return holds if function in COMPARISONS else call.builder.select(holds, a, b)


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
def _find_quotas(lines, at, apart, k):
    """Return total, average and remainder of lines whose nodes i lie at ``at + i * apart``.

    For floats the average is the exact mean and the remainder 0.
    """
    total = _filled(_read(lines, at), 0)
    errors = total
    for i in range(k):
        total, errors = _added(total, errors, _read(lines, at + i * apart))
    if _is_real(total):
        total = total + errors
        return total, total / k, _filled(total, 0)
    part = 1.0 / k
    if not _is_long(total):
        # Half a unit more is not near a whole quotient: of 32 bits none is off. Final loads of
        # 64 16x16x16 tori take 0.85 of the time with the corrections below.
        average = _converted((_floats(total) + 0.5) * part, total)
        return total, average, total - average * k
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
def _share(lines, at, apart, k):
    """Give every node of lines its quota; see ``_find_quotas``."""
    _, average, remainder = _find_quotas(lines, at, apart, k)
    for i in range(k):
        _write(lines, at + i * apart, _where(remainder > i, average + 1, average))


@njit(cache=True, nogil=True)
def _share_by_flows(lines, at, apart, k, flows):
    """Do as ``_share``, set the flows of chains and return the totals.

    Row i of the flows is from node i to i + 1; on the wrap link it is 0.
    """
    total, average, remainder = _find_quotas(lines, at, apart, k)
    surplus = _filled(total, 0)
    errors = surplus
    for i in range(k):
        quota = _where(remainder > i, average + 1, average)
        surplus, errors = _added(surplus, errors, _read(lines, at + i * apart) - quota)
        _write(flows, i * LANES, surplus + errors if _is_real(surplus) else surplus)
        _write(lines, at + i * apart, quota)
    _write(flows, (k - 1) * LANES, _filled(total, 0))
    return total


@njit(cache=True, nogil=True)
def _ranked(flows, at):
    """Return flows as integers in the same order; twice that, they are as before."""
    bits = _bits(_read(flows, at))
    if _is_real(_read(flows, at)):
        bits = bits ^ ((bits >> 63) & LARGEST)
    return bits


@njit(cache=True, nogil=True)
def _middle_of_many(flows, k):
    """Return the middle one or two of k flows.

    The range of all lanes is halved at once: ``numpy.partition`` of one lane after the other takes
    8 to 13 times as long on rings of 80 and 100, 2 to 4 times on rings of 256 and 1024.
    """
    rank = (k - 1) // 2
    least = _ranked(flows, 0)
    most = least
    for i in range(1, k):
        flow = _ranked(flows, i * LANES)
        least = _least(least, flow)
        most = _most(most, flow)
    top = most
    none = _filled(top, 0)
    while _any(least < top):
        middle = (least & top) + ((least ^ top) >> 1)
        count = none
        for i in range(k):
            count = _where(_ranked(flows, i * LANES) <= middle, count + 1, count)
        enough = count > rank
        top = _where(enough, middle, top)
        least = _where(enough, least, middle + 1)
    count = none
    above = most
    for i in range(k):
        flow = _ranked(flows, i * LANES)
        count = _where(flow <= least, count + 1, count)
        above = _where(flow > least, _least(above, flow), above)
    above = _where(count > k // 2, least, above)
    like = _read(flows, 0)
    if _is_real(like):
        least = least ^ ((least >> 63) & LARGEST)
        above = above ^ ((above >> 63) & LARGEST)
    return _of_bits(least, like), _of_bits(above, like)


@njit(cache=True, nogil=True)
def _ring_shift(flows, k, sorter, comparators, total, spare):
    """Return x_m, what the ring subtracts from each of its flows (Fig. 8, step 1).

    The paper's rule in terms of the two middle flows: the upper one if more than half the
    flows are positive, that is if the lower one is; the lower one if more than half are
    negative; else 0. ``sorter`` are the comparators that find them in longer rings, if any.
    """
    if k <= FEW:
        # Half of the rows that are missing are as low as any flow, half as high.
        most = total + total if _is_real(total) else total
        for i in range(k, FEW):
            _write(flows, i * LANES, 0 - most if i < FEW // 2 + k // 2 else most)
        lower, upper = _middle_of_few(flows)
        upper = lower if k % 2 else upper
    elif comparators > 0:
        for i in range(k):
            _write(spare, i * LANES, _read(flows, i * LANES))
        for c in range(comparators):
            low, high = _value(sorter, 2 * c) * LANES, _value(sorter, 2 * c + 1) * LANES
            a, b = _read(spare, low), _read(spare, high)
            _write(spare, low, _least(a, b))
            _write(spare, high, _most(a, b))
        lower = _read(spare, (k - 1) // 2 * LANES)
        upper = _read(spare, k // 2 * LANES)
    else:
        lower, upper = _middle_of_many(flows, k)
    return _where(lower > 0, upper, _where(upper < 0, lower, 0))


@njit(cache=True, nogil=True)
def _settle_flows(flows, k, shift, noise, ring):
    """Subtract the shift; return the lines' units, -1 beyond int64, and their rounds.

    Flows of no more than ``noise`` are rounding and become 0. The rounds are those of
    receive-before-send: the longest run of flows in one direction, for a node passes on what
    comes along its line in the round after, and runs do not hinder each other. On a ring a run
    may go on over the wrap link; no ring has all its flows in one direction.
    """
    none = _filled(shift, 0)
    units = none
    over = none > 0
    rising, falling, rounds = none, none, none
    # The runs that begin at node 0, and whether they go on.
    first_up, first_down = none, none
    all_up = none <= none
    all_down = all_up
    for i in range(k):
        flow = _read(flows, i * LANES) - shift
        size = _where(flow < 0, 0 - flow, flow)
        if _is_real(flow):
            flow = _where(size > noise, flow, 0)
            size = _where(size > noise, size, 0)
        _write(flows, i * LANES, flow)
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
def _send_first_rounds(lines, kept, pending, arrived, k, slack, changed):
    """Simulate send-before-receive (Fig. 6): a link's whole flow once a node holds as much.

    A node serves its lower link before its upper one, and gives away foreign units first.
    ``lines`` (loads) and ``pending`` (flows) are used up, ``kept`` is what never left. Only rows
    to which something has come are looked at again: ``changed`` (3, k) lists them, now and
    next, and says in which round a row was last listed. Returns the rounds.
    """
    none = _filled(slack, 0)
    rounds = none
    now, following, listed = 0, k, 2 * k
    for i in range(k):
        _write(arrived, i * LANES, none)
        _set(changed, now + i, i)
        _set(changed, listed + i, 0)
    count = k
    made = 0
    while count > 0:
        made += 1
        sending = none > 0
        reached = 0
        for c in range(count):
            node = np.int64(_value(changed, now + c))
            below = node - 1 if node > 0 else k - 1
            above = node + 1 if node < k - 1 else 0
            held = _read(lines, node * LANES)
            for up in (False, True):
                to, link = (above, node) if up else (below, below)
                left = _read(pending, link * LANES)
                flow = left if up else 0 - left
                goes = (flow > 0) & (held + slack >= flow)
                if not _any(goes):
                    continue
                sending = sending | goes
                flow = _where(goes, flow, 0)
                held = held - flow
                _write(pending, link * LANES, _where(goes, 0, left))
                _write(arrived, to * LANES, _read(arrived, to * LANES) + flow)
                if _value(changed, listed + to) < made:
                    _set(changed, listed + to, made)
                    _set(changed, following + reached, to)
                    reached += 1
            _write(lines, node * LANES, held)
            least = _least(_read(kept, node * LANES), _most(held, 0))
            _write(kept, node * LANES, least)
        for c in range(reached):
            at = np.int64(_value(changed, following + c)) * LANES
            _write(lines, at, _read(lines, at) + _read(arrived, at))
            _write(arrived, at, none)
        rounds = _where(sending, rounds + 1, rounds)
        now, following = following, now
        count = reached
    return rounds


@njit(cache=True, nogil=True)
def _measure(lines, at, apart, axis, sorters, flows, spare):
    """Balance a bundle of lines, set their flows; return their units, rounds and noise."""
    k = _value(axis, LENGTH)
    ring = _value(axis, IS_RING) != 0
    total = _share_by_flows(lines, at, apart, k, flows)
    shift = _filled(total, 0)
    # Sums are compensated, so the noise is the rounding of the mean and of load - mean.
    noise = _converted(_floats(total) * NOISE, total) if _is_real(total) else shift
    if ring:
        begin = _value(axis, FIRST_COMPARATOR)
        count = _value(axis, LAST_COMPARATOR) - begin
        shift = _ring_shift(flows, k, _part(sorters, 2 * begin), count, total, spare)
    units, rounds = _settle_flows(flows, k, shift, noise, ring)
    return units, rounds, noise


@njit(cache=True, nogil=True)
def _line(number, stride):
    """Return which line of its axis one is that does not lie beside ``LANES`` others.

    They are numbered by themselves: the last ones of every stretch of ``stride`` lines.
    """
    rest = stride % LANES
    return (number // rest + 1) * stride - rest + number % rest


@njit(cache=True, nogil=True)
def _gather(memory, first, alone, k, stride, lines):
    """Copy a bundle into rows: lines side by side from index ``first`` on, if none is alone.

    Else ``alone`` lines from number ``first`` on, as ``_line`` has them, and lanes of 0.
    """
    if alone == 0:
        for i in range(k):
            _write(lines, i * LANES, _read(memory, first + i * stride))
        return
    whole = k // LANES * LANES if stride == 1 and alone == LANES else 0
    for i in range(0, whole, LANES):
        _transpose(memory, first * k + i, k, lines, i * LANES, LANES)
    if alone < LANES:
        for i in range(k):
            _write(lines, i * LANES, _filled(_read(lines, 0), 0))
    for u in range(alone if whole < k else 0):
        line = _line(first + u, stride)
        at = line + line // stride * stride * (k - 1)
        for i in range(whole, k):
            _set(lines, i * LANES + u, _value(memory, at + i * stride))


@njit(cache=True, nogil=True)
def _scatter(lines, first, alone, k, stride, memory):
    """Copy rows back to the lines; see ``_gather``."""
    if alone == 0:
        for i in range(k):
            _write(memory, first + i * stride, _read(lines, i * LANES))
        return
    whole = k // LANES * LANES if stride == 1 and alone == LANES else 0
    for i in range(0, whole, LANES):
        _transpose(lines, i * LANES, LANES, memory, first * k + i, k)
    for u in range(alone if whole < k else 0):
        line = _line(first + u, stride)
        at = line + line // stride * stride * (k - 1)
        for i in range(whole, k):
            _set(memory, at + i * stride, _value(lines, i * LANES + u))


@njit(cache=True, nogil=True)
def _bundle(loads, kept, flows, wanted, first, alone, stride, axis, sorters, send_first, scratch):
    """Balance a bundle, see ``_gather``, and return its units and rounds.

    ``kept`` is updated if they are ``send_first``'s.
    """
    lines, found, spare, held, stayed, changed = scratch[:6]
    k = _value(axis, LENGTH)
    if alone == 0 and not send_first:
        sent, taken, _ = _measure(loads, first, stride, axis, sorters, found, spare)
        if wanted:
            _scatter(found, first, alone, k, stride, flows)
        return sent, taken
    _gather(loads, first, alone, k, stride, lines)
    if send_first:
        _gather(loads, first, alone, k, stride, held)
        _gather(kept, first, alone, k, stride, stayed)
    sent, taken, slack = _measure(lines, 0, LANES, axis, sorters, found, spare)
    _scatter(lines, first, alone, k, stride, loads)
    if wanted:
        _scatter(found, first, alone, k, stride, flows)
    if send_first:
        taken = _send_first_rounds(held, stayed, found, spare, k, slack, changed)
        _scatter(stayed, first, alone, k, stride, kept)
    return sent, taken


@njit(cache=True, nogil=True)
def _pour(source, at, apart, count, target, streams):
    """Copy vectors ``apart`` to the same places of memory of a dtype that the values fit."""
    for i in range(at, at + count * apart, apart):
        if streams:
            _stream(target, i, _converted(_read(source, i), _read(target, i)))
        else:
            _write(target, i, _converted(_read(source, i), _read(target, i)))


@njit(cache=True, nogil=True)
def _axis(loads, kept, flows, wanted, size, W, axis, sorters, send_first, scratch, results):
    """Balance the lines of an axis in place.

    ``kept`` is None where only loads are wanted. Else ``flows`` are set if ``wanted``, and the
    units, -1 beyond int64, and rounds of each line in ``scratch``. ``results`` are where flows and
    loads go bundle by bundle, whether they do, for which none may be alone and leave lanes free,
    and whether past the caches. That way stores run while the next bundle is balanced: 2.2 ns a
    node of 64 16x16x16 tori, where an axis at a time takes 2.8.
    """
    lines, units, rounds = scratch[0], scratch[6], scratch[7]
    k, stride = _value(axis, LENGTH), _value(axis, STRIDE) * W
    count = size // k
    rest = stride % LANES
    for block in range(0, count, stride):
        for line in range(block, block + stride - rest, LANES):
            at = line + block * (k - 1)
            if kept is None:
                _share(loads, at, stride, k)
                continue
            sent, taken = _bundle(
                loads, kept, flows, wanted, at, 0, stride, axis, sorters, send_first, scratch
            )  # fmt: skip
            _write(units, line, sent)
            _write(rounds, line, taken)
            if results[2]:
                _pour(flows, at, stride, k, results[0], results[3])
                _pour(loads, at, stride, k, results[1], results[3])
    left = count // stride * rest
    for first in range(0, left, LANES):
        alone = min(LANES, left - first)
        if kept is None:
            _gather(loads, first, alone, k, stride, lines)
            _share(lines, 0, LANES, k)
            _scatter(lines, first, alone, k, stride, loads)
            continue
        sent, taken = _bundle(
            loads, kept, flows, wanted, first, alone, stride, axis, sorters, send_first, scratch
        )  # fmt: skip
        # Along the last axis lines are numbered as they come.
        place = first if stride == 1 else count
        _write(units, place, sent)
        _write(rounds, place, taken)
        for u in range(alone if stride > 1 else 0):
            line = _line(first + u, stride)
            _set(units, line, _value(units, count + u))
            _set(rounds, line, _value(rounds, count + u))
        if results[2]:
            _pour(flows, first * k, LANES, k, results[0], results[3])
            _pour(loads, first * k, LANES, k, results[1], results[3])


@njit(cache=True, nogil=True)
def _sum(total, more):
    """Add up two numbers; what passes int64, or already did, is -1."""
    over = total < 0 or more < 0 or more > LARGEST - total
    return -1 if over and not isinstance(total, float) else total + more


@njit(cache=True, nogil=True)
def _sum_up(added, ranked, size, W, figures):
    """Set the sum of ``added`` (size, W), least and most of ``ranked``, W of each in ``figures``.

    They begin at 0, ``LANES`` and ``2 * LANES``. A sum beyond int64, or of what is beyond, is
    -1. Floats are added up in order.
    """
    rows = size if W > 1 else 0 if _is_real(_read(added, 0)) else size // LANES
    if rows > 0:
        total = _read(added, 0)
        least, most = _read(ranked, 0), _read(ranked, 0)
        over = total < 0
        for at in range(LANES, rows * LANES, LANES):
            value = _read(added, at)
            if _is_long(value):
                over = over | (value < 0) | (value > LARGEST - total)
            total = total + value
            least = _least(least, _read(ranked, at))
            most = _most(most, _read(ranked, at))
        _write(figures, 0, _where(over, -1, total) if _is_long(total) else total)
        _write(figures, LANES, least)
        _write(figures, 2 * LANES, most)
    if W > 1:
        return
    if rows > 0:
        first = rows * LANES
        total = _value(figures, 0)
        least, most = _value(figures, LANES), _value(figures, 2 * LANES)
        for u in range(1, LANES):
            total = _sum(total, _value(figures, u))
            least = min(least, _value(figures, LANES + u))
            most = max(most, _value(figures, 2 * LANES + u))
    else:
        first = 1
        total = _value(added, 0)
        least = most = _value(ranked, 0)
    for i in range(first, size):
        total = _sum(total, _value(added, i))
        least = min(least, _value(ranked, i))
        most = max(most, _value(ranked, i))
    _set(figures, 0, total)
    _set(figures, LANES, least)
    _set(figures, 2 * LANES, most)


@njit(cache=True, nogil=True)
def _tally(scratch, lines, W, trials, moved, rounds, first, S):
    """Set units and rounds of ``trials`` networks from those of an axis' lines (lines, W)."""
    line_units, line_rounds, sums = scratch[6:]
    _sum_up(line_units, line_rounds, lines, W, sums)
    for w in range(trials):
        _set(moved, first + w * S, _value(sums, w))
        _set(rounds, first + w * S, int(_value(sums, 2 * LANES + w)))


@njit(cache=True, nogil=True)
def _keep(loads, kept, size):
    """Nothing stays at a node beyond its load."""
    whole = size // LANES * LANES
    for i in range(0, whole, LANES):
        _write(kept, i, _least(_read(kept, i), _read(loads, i)))
    for i in range(whole, size):
        _set(kept, i, min(_value(kept, i), _value(loads, i)))


@njit(cache=True, nogil=True)
def _copy(source, target, size):
    """Copy memory to such of any dtype that the values fit."""
    whole = size // LANES * LANES
    _pour(source, 0, LANES, size // LANES, target, False)
    for i in range(whole, size):
        _set(target, i, _value(source, i))


@njit(cache=True, nogil=True)
def _load(rows, trials, N, W, loads):
    """Copy networks, rows (trials, N), to loads (N, W)."""
    if W == 1:
        _copy(rows, loads, N)
        return
    whole = N // LANES * LANES if trials == LANES else 0
    for i in range(0, whole, LANES):
        _transpose(rows, i, N, loads, i * W, W)
    for w in range(W):
        for i in range(whole, N):
            # In two branches: of uint64 and the int64 0, numba would make a float64.
            if w < trials:
                _set(loads, i * W + w, _value(rows, w * N + i))
            else:
                _set(loads, i * W + w, 0)


@njit(cache=True, nogil=True)
def _store(loads, trials, N, W, rows, apart, streams):
    """Copy loads or flows (N, W) to rows that lie ``apart``, a network each."""
    if streams:
        _pour(loads, 0, LANES, N // LANES, rows, True)
        return
    if W == 1:
        _copy(loads, rows, N)
        return
    whole = N // LANES * LANES if trials == LANES else 0
    for i in range(0, whole, LANES):
        _transpose(loads, i * W, W, rows, i, apart)
    for w in range(trials):
        for i in range(whole, N):
            _set(rows, w * apart + i, _value(loads, i * W + w))


@njit(cache=True, nogil=True)
def _rooms(N, W, axes):
    """Return how much a tile (N, W) takes, the rows of a bundle, and the lines of an axis."""
    rows, lines = FEW * LANES, 0
    for s in range(axes.shape[0]):
        k = axes[s, LENGTH]
        if k > 1:
            rows = max(rows, k * LANES)
            lines = max(lines, N // k * W)
    return -(-N * W // LANES) * LANES, rows, lines + LANES


def room(tiles, N, W, axes):
    """Return how much scratch a kernel needs for so many tiles (N, W).

    In plain Python: to load one more compiled function takes 8 ms.
    """
    tile, rows, lines = getattr(_rooms, "py_func", _rooms)(N, W, axes)
    return LANES + tiles * tile + 6 * rows + 2 * lines + 3 * LANES


@njit(cache=True, nogil=True)
def _scratch(memory, tiles, N, W, axes):
    """Return the tiles' memory, how far apart they are, and the rest of the scratch.

    That is memory for the rows of a bundle, six times, for units and rounds, and for sums.
    """
    tile, rows, lines = _rooms(N, W, axes)
    memory = _aligned(_memory(memory))
    bundle = _part(memory, tiles * tile)
    units = _part(bundle, 6 * rows)
    scratch = (
        bundle, _part(bundle, rows), _part(bundle, 2 * rows), _part(bundle, 3 * rows),
        _part(bundle, 4 * rows), _part(bundle, 5 * rows), units, _part(units, lines),
        _part(units, 2 * lines),
    )  # fmt: skip
    return memory, tile, scratch


@njit(cache=True, nogil=True)
def _outside(rows, B, N, top):
    """Tell whether one of the values (B, N) lies below 0 or above ``top``."""
    whole = N // LANES * LANES
    for first in range(0, B * N, N):
        found = False
        if whole > 0:
            outside = _read(rows, first) < 0
            for i in range(first, first + whole, LANES):
                outside = outside | (_read(rows, i) < 0) | (_read(rows, i) > top)
            found = _any(outside)
        for i in range(first + whole, first + N):
            found = found or _value(rows, i) < 0 or _value(rows, i) > top
        if found:
            return True
    return False


@njit(cache=True, nogil=True)
def final_loads(rows, result, memory, W, axes, sorters, top):
    """Balance the networks of ``rows`` (B, N) into ``result``, which may be the same.

    See ``dde``, which also counts; ``memory`` is for 1 tile, and of a dtype that every line's
    total fits. Unless ``top`` is negative no load may be above; if one is, or is below 0, nothing
    is done, and False returned.
    """
    B, N = rows.shape
    if top >= 0 and _outside(_memory(rows), B, N, top):
        return False
    loads, _, scratch = _scratch(memory, 1, N, W, axes)
    source, target, plan = _memory(rows), _memory(result), _memory(axes)
    for first in range(0, B, W):
        trials = min(W, B - first)
        _load(_part(source, first * N), trials, N, W, loads)
        for s in range(axes.shape[0]):
            axis = _part(plan, s * COLUMNS)
            if _value(axis, LENGTH) > 1:
                _axis(
                    loads, None, loads, False, N * W, W, axis, _memory(sorters), False, scratch,
                    None,
                )  # fmt: skip
        _store(loads, trials, N, W, _part(target, first * N), N, False)
    return True


@njit(cache=True, nogil=True)
def dde(
    rows, result, flows, stages, memory, W, axes, sorters, send_first, moved, rounds, figures, top
):  # fmt: skip
    """Balance the networks of ``rows`` (B, N) into ``result``, which may be the same; measure.

    ``memory`` is scratch, see ``room``, for 3 tiles, or 2 without flows. It is int32, int64 or
    float64: a dtype in which the longest axis times every total fits, or for int64 every total.
    W is 1 or ``LANES``. ``axes`` (S, COLUMNS), in order: each one's number, length,
    stride in nodes, whether it is a ring, and from where to where ``sorters`` (C, 2) are its
    comparators; without any the middle is searched.

    ``flows`` (B, d, N) receives those of every axis from each node to its successor, ``stages``
    (S, B, N) the loads after each; both are empty if not wanted. ``moved`` and ``rounds`` (B, S)
    zeros receive units, -1 beyond int64, and rounds of each axis, ``figures`` (FIGURES, B) the
    units that never left, the least and the largest load; unless ``top`` is negative also the
    totals and such loads before. With a ``top``, for integers, nothing is done and ``REFUSED``
    returned if a load is above or is below 0. Return the first network whose units pass int64,
    or -1.
    """
    B, N = rows.shape
    S = axes.shape[0]
    T = rows.dtype.type
    wanted = flows.size > 0
    in_lines = W == 1 and N % LANES == 0 and flows.ctypes.data % CACHE_LINE == 0
    streams = in_lines and flows.nbytes + stages.nbytes > STREAMED
    if top >= 0 and _outside(_memory(rows), B, N, top):
        return REFUSED
    loads, tile, scratch = _scratch(memory, 3 if wanted else 2, N, W, axes)
    kept, found = _part(loads, tile), _part(loads, 2 * tile)
    source, target, plan = _memory(rows), _memory(result), _memory(axes)
    for first in range(0, B, W):
        trials = min(W, B - first)
        _load(_part(source, first * N), trials, N, W, loads)
        _copy(loads, kept, N * W)
        if top >= 0:
            _sum_up(loads, loads, N, W, scratch[8])
            for w in range(trials):
                for row in range(BEFORE):
                    figures[BEFORE + row, first + w] = _value(scratch[8], row * LANES + w)
        for s in range(S):
            axis = _part(plan, s * COLUMNS)
            k = _value(axis, LENGTH)
            stride = _value(axis, STRIDE)
            axis_flows = _part(_memory(flows), (first * S + _value(axis, NUMBER)) * N)
            stage = _part(_memory(stages), (s * B + first) * N)
            in_squares = stride == 1 and k % LANES == 0 and N // k % LANES == 0
            at_once = wanted and k > 1 and W == 1 and (stride % LANES == 0 or in_squares)
            if k > 1:
                _axis(
                    loads, kept, found, wanted, N * W, W, axis, _memory(sorters), send_first,
                    scratch, (axis_flows, stage, at_once, streams),
                )  # fmt: skip
                _tally(
                    scratch, N // k, W, trials, _memory(moved), _memory(rounds), first * S + s, S
                )  # fmt: skip
                if not send_first:
                    _keep(loads, kept, N * W)
            elif wanted:
                for i in range(N * W):
                    _set(found, i, 0)
            if wanted and not at_once:
                _store(found, trials, N, W, axis_flows, S * N, streams)
                _store(loads, trials, N, W, stage, N, streams)
        _sum_up(kept, loads, N, W, scratch[8])
        for w in range(trials):
            figures[LOCAL, first + w] = _value(scratch[8], w)
            figures[LEAST, first + w] = T(_value(scratch[8], LANES + w))
            figures[MOST, first + w] = T(_value(scratch[8], 2 * LANES + w))
        _store(loads, trials, N, W, _part(target, first * N), N, False)
    if streams:
        _end_streams()
    for b in range(B):
        for s in range(S):
            if moved[b, s] < 0:
                return b
    return -1
