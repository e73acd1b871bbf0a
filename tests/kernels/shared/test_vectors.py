"""Vectors and traced functions against NumPy, for all dtypes and widths, compiled and not."""

import numpy as np
import pytest
from numba import config, njit, types

from fastlb.kernels.shared import vectors as v
from fastlb.kernels.shared.exchange import (
    exchange,
    exchange_and_count,
    exchange_by_halves,
)  # fmt: skip
from fastlb.kernels.shared.tracing import (
    cond,
    either,
    fori,
    register_lanes,
    stack,
    traced,
    update,
)  # fmt: skip
from fastlb.kernels.shared.transposition import transpose

INTEGERS = [np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64]
SIZES = [2, 4, 8, 16, 32]


def values(dtype, size, seed=0, top=None):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=size).astype(dtype)
    largest = np.iinfo(dtype).max if top is None else top
    return rng.integers(0, largest, size, dtype=dtype, endpoint=True)


BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "reversed": lambda a, b: 1 - a + 2 * b,
    "negative": lambda a, b: -a + b,
    "smaller": lambda a, b: v.select(a < b, a, b),
    "minimum": v.minimum,
    "maximum": v.maximum,
    "number": lambda a, b: v.select(a >= b, a, 0),
    "equal": lambda a, b: v.select((a == b) | (a != b + 1), a, b),
    "spread": lambda a, b: a + v.spread(3, b),
    "concatenated": lambda a, b: v.split(v.concatenate([a, b]), a.size)[1],
    "reduced": lambda a, b: v.reduce([a, b, a], v.add),
    "halves": lambda a, b: v.minimum(*exchange_by_halves(a, b)[1:]),
    "lanes": lambda a, b: v.spread(v.reduce_lanes(a, v.maximum), a) - b,
}
WHOLE = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ ~b,
    "numbers": lambda a, b: a + v.lane_numbers(b),
    "shift": lambda a, b: (a >> 3) + (b << 2),
    "exchange": lambda a, b: exchange(a >> 1, b >> 1)[0],
    "count": lambda a, b: exchange_and_count(a >> 1, b >> 1)[2],
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_operations_equal_numpys(dtype, size):
    operations = {**BINARY, **(WHOLE if dtype in INTEGERS else {"divide": lambda a, b: a / b})}

    @traced()
    def run(a, b, out):
        for number, operation in enumerate(operations.values()):
            result = operation(a.load(0, size), b.load(0, size))
            out.store((number, 0), result)

    a, b = values(dtype, size, 1), values(dtype, size, 2)
    with np.errstate(all="ignore"):
        expected = [operation(a, b) for operation in operations.values()]
        outs = []
        for call in variants(run, 3):
            out = np.zeros((len(operations), size), dtype)
            call(a, b, out)
            outs.append(out)
    for out in outs:
        for name, got, right in zip(operations, out, expected, strict=True):
            np.testing.assert_array_equal(got, right, err_msg=name)


def variants(function, count):
    """Return a traced function of so many arguments compiled, and without the compiler."""
    if config.DISABLE_JIT:
        return [function]
    calls = {
        1: lambda: njit(lambda a: function(a)),
        2: lambda: njit(lambda a, b: function(a, b)),
        3: lambda: njit(lambda a, b, c: function(a, b, c)),
    }
    return [calls[count](), function.plain]


@pytest.mark.parametrize("old", INTEGERS + FLOATS)
@pytest.mark.parametrize("new", INTEGERS + FLOATS)
def test_conversions_equal_numpys(old, new):
    @traced()
    def convert(a, out):
        out.store(0, a.load(0, 16).astype(out.dtype))

    whole = np.dtype(new).kind != "f" and np.dtype(old).kind == "f"
    # Beyond the new dtype's range the conversion of a float is undefined.
    a = np.arange(16, dtype=old) * 3 if whole else values(old, 16)
    for call in variants(convert, 2):
        out = np.zeros(16, new)
        call(a, out)
        np.testing.assert_array_equal(out, a.astype(new))


def test_dtypes_do_not_mix_in_silence():
    @traced()
    def mix(a, b):
        a.load(0, 4) + b.load(0, 4)

    if config.DISABLE_JIT:
        pytest.skip("NumPy promotes")
    with pytest.raises(Exception, match="use astype"):
        njit(lambda a, b: mix(a, b))(np.zeros(4, np.int32), np.zeros(4, np.int64))


@pytest.mark.parametrize("dtype", [np.int16, np.uint32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_transposition(dtype, n):
    @traced()
    def turn(square, out):
        for i, row in enumerate(transpose([square.load((i, 0), n) for i in range(n)])):
            out.store((i, 0), row)

    square = values(dtype, n * n).reshape(n, n)
    for call in variants(turn, 2):
        out = np.zeros_like(square)
        call(square, out)
        np.testing.assert_array_equal(out, square.T)


def test_transposition_of_squares_side_by_side():
    @traced()
    def turn(squares, out):
        for i, row in enumerate(transpose([squares.load((i, 0), 8) for i in range(4)])):
            out.store((i, 0), row)

    squares = values(np.int32, 32).reshape(4, 8)
    for call in variants(turn, 2):
        out = np.zeros_like(squares)
        call(squares, out)
        np.testing.assert_array_equal(out, np.hstack([squares[:, :4].T, squares[:, 4:].T]))


@pytest.mark.parametrize("size", [8, 16, 32, 64])
def test_rounded_product_and_fused_multiply_add(size):
    @traced()
    def run(a, b, out):
        out.store(0, v.rounded_product(a.load(0, size), b.load(0, size)))

    a = values(np.int16, size, 1) - 2**14
    b = values(np.int16, size, 2) - 2**14
    expected = (((a.astype(int) * b.astype(int)) >> 14) + 1) >> 1
    for call in variants(run, 3):
        out = np.zeros(size, np.int16)
        call(a, b, out)
        np.testing.assert_array_equal(out, expected)

    @traced()
    def fuse(a, b, out):
        out.store(0, v.fused_multiply_add(a.load(0, 8), b.load(0, 8), 1.0))

    # 2**-60 is lost by a product that is rounded by itself.
    x, y = np.full(8, 1 + 2.0**-30), np.full(8, 1 - 2.0**-30)
    for call in variants(fuse, 3):
        out = np.zeros(8)
        call(x, y, out)
        np.testing.assert_array_equal(out, 2 - 2.0**-60)


def test_control_flow():
    @traced("twice", returns=types.int64)
    def run(a, out, twice):
        room = stack(a, np.int64, 4)
        n = a.shape[0]

        def body(i, total, largest):
            number = a[i] * (2 if twice else 1)
            cond(number > 5, lambda: room.__setitem__(0, number))
            return total + number, v.maximum(largest, number)

        room[0] = 0
        total, largest = fori(n, body, a[0] - a[0], a[0] - a[0])
        (chosen,) = cond(total > 10, lambda: [largest], lambda: [-largest])
        out[0], out[1] = chosen, room[0]
        source = either(total > 10, a, out)
        update(out, 2, v.add, source.load(0, 2))
        return total

    for numbers in ([1, 2, 3], [1, 2, 7, 4]):
        a = np.array(numbers)
        compiled = njit(lambda a, out: run(a, out, True))
        for call in (compiled, lambda a, out: getattr(run, "plain", run)(a, out, True)):
            out = np.zeros(4, np.int64)
            assert call(a, out) == 2 * a.sum()
            assert out[0] == 2 * a.max()
            assert out[1] == 2 * a[2 * a > 5][-1] if (2 * a > 5).any() else 0
            assert out[2:].tolist() == numbers[:2]


@traced(returns=lambda a, b: types.UniTuple(a, 2))
def exchange_numbers(a, b):
    return exchange(a, b)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_one_rule_for_numbers(dtype):
    top = 2**15 - 1 if dtype in (np.int16,) else None
    loads = values(dtype, 60, 3, top)
    if dtype in FLOATS:
        loads = abs(loads)
    call = njit(lambda a, b: exchange_numbers(a, b))
    for a, b in zip(loads[::2], loads[1::2], strict=True):
        first, second = call(a, b)
        if dtype in FLOATS:
            assert first == second == (a + b) * dtype(0.5)
        else:
            high, low = max(int(a), int(b)), min(int(a), int(b))
            sent = (high - low) // 2
            expected = (high - sent, low + sent)
            assert (int(first), int(second)) == (expected if a >= b else expected[::-1])


def test_register_lanes():
    call = njit(lambda a: register_lanes(a))
    assert call(np.zeros(1, np.int64)) * 8 == call(np.zeros(1, np.int16)) * 2 >= 16
