"""The kernels' random numbers against NumPy's own Philox."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import config
from numba.core.registry import cpu_target

from fastlb.accelerate import kernels
from fastlb.random_loads.distributions import round_keys

SEEDS = [0, 1, 1995, 2**64 - 1, 2**64, 0x1234567890ABCDEF1234567890ABCDEF, 2**128 - 1]
STARTS = [0, 1, 2**32, 2**63 - 4]
SIZES = [1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 300]


def numpy_words(seed, start, trials, size):
    streams = [np.random.Philox(key=seed, counter=[0, start + t, 0, 0]) for t in range(trials)]
    return np.stack([stream.random_raw(size) for stream in streams])


@pytest.fixture(scope="module")
def philox():
    return kernels("random.loads")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("start", STARTS)
def test_words_are_numpys(philox, seed, start):
    out = np.empty((3, 9), np.uint64)
    philox.draw_rows(round_keys(seed), start, philox.Law(None, None, None), None, out)
    assert np.array_equal(out, numpy_words(seed, start, 3, 9))


@pytest.mark.parametrize("size", SIZES)
def test_words_of_any_number(philox, size):
    out = np.empty((2, size), np.uint64)
    philox.draw_rows(round_keys(7), 5, philox.Law(None, None, None), None, out)
    assert np.array_equal(out, numpy_words(7, 5, 2, size))


def law(philox, kind, span):
    """Return a law by the numbers that it takes: halves of words, or words."""
    span = np.uint64(span)
    return philox.Law(span, None, None) if kind == "halves" else philox.Law(None, span, None)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("span", [1, 2, 2001, 2**32 - 1, 2**32])
def test_small_ranges_take_a_32_bit_number_a_node(philox, size, span):
    out = np.empty((2, size), np.int64)
    philox.draw_rows(round_keys(7), 5, law(philox, "halves", span), None, out)
    numbers = numpy_words(7, 5, 2, size).view(np.uint32)[:, :size]
    assert out.tolist() == [[number * span >> 32 for number in row] for row in numbers.tolist()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("span", [1, 2001, 2**32 + 1, 2**63 - 1])
def test_large_ranges_take_a_word_a_node(philox, size, span):
    out = np.empty((2, size), np.int64)
    philox.draw_rows(round_keys(7), 5, law(philox, "words", span), None, out)
    words = numpy_words(7, 5, 2, size)
    assert out.tolist() == [[word * span >> 64 for word in row] for row in words.tolist()]


def values_law(philox, values, bits):
    """Return the law of given values of so many bits each."""
    return philox.Law(None, np.uint64(len(values)), np.array(values, f"u{bits // 8}"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_given_values_are_picked_by_a_word_a_node(philox, size, bits):
    out, values = np.empty((3, size), np.int64), [7, 0, 2 ** min(bits, 63) - 1, 5, 5]
    philox.draw_rows(round_keys(7), 5, values_law(philox, values, bits), None, out)
    words = numpy_words(7, 5, 3, size).tolist()
    assert out.tolist() == [[values[word * 5 >> 64] for word in row] for row in words]


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_tiles_hold_the_given_values_of_the_rows(philox, dtype, bits):
    most = min(np.iinfo(dtype).max, 2 ** min(bits, 63) - 1)
    keys, drawn = round_keys(3), values_law(philox, [7, 0, most, most - 1, 5], bits)
    for nodes in (1, 5, 8):
        rows, tiles = np.empty((96, nodes), np.int64), np.empty((2, nodes, 48), dtype)
        philox.draw_rows(keys, 2**40, drawn, None, rows)
        philox.draw_tiles(keys, 2**40, drawn, None, tiles)
        assert np.array_equal(tiles.transpose(0, 2, 1).reshape(rows.shape), rows)


def test_rows_do_not_depend_on_where_they_begin(philox):
    keys = round_keys(3)
    whole, part = np.empty((9, 21), np.int64), np.empty((4, 21), np.int64)
    thousand = law(philox, "halves", 1000)
    philox.draw_rows(keys, 0, thousand, None, whole)
    philox.draw_rows(keys, 5, thousand, None, part)
    assert np.array_equal(whole[5:], part)


@pytest.mark.parametrize("kind", ["halves", "words"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("nodes", [1, 3, 4, 7, 8, 9, 20])
def test_tiles_hold_the_rows(philox, kind, dtype, nodes):
    keys, drawn = round_keys(2**70 + 5), law(philox, kind, 2001)
    for width in (16, 48):
        rows, tiles = np.empty((2 * width, nodes), np.int64), np.empty((2, nodes, width), dtype)
        philox.draw_rows(keys, 2**40, drawn, None, rows)
        philox.draw_tiles(keys, 2**40, drawn, None, tiles)
        assert np.array_equal(tiles.transpose(0, 2, 1).reshape(rows.shape), rows)


@pytest.mark.parametrize("size", SIZES)
def test_tables_are_searched_by_a_word_a_node(philox, size):
    thresholds = np.array([5, 2**40, 2**63, 2**63 + 1, 2**64 - 2**54], np.uint64)
    first = np.array([3, 10, 4, 7, 2**60, 0])
    mask = np.array([0, 7, 1, 0, 2**50 - 1, 3], np.uint64)
    shift = np.uint64(54)
    guide = np.full(2**10 + 1, len(thresholds), np.int32)
    guide[:-1] = np.searchsorted(thresholds, np.arange(2**10, dtype=np.uint64) << shift, "right")
    table = philox.Table(thresholds, first, mask, guide, shift)
    keys, nothing = round_keys(7), philox.Law(None, None, None)
    rows, tiles = np.empty((32, size), np.int64), np.empty((2, size, 16), np.int64)
    philox.draw_rows(keys, 5, nothing, table, rows)
    philox.draw_tiles(keys, 5, nothing, table, tiles)
    words = numpy_words(7, 5, 32, size)
    cell = np.searchsorted(thresholds, words, "right")
    assert np.array_equal(rows, first[cell] + (words & mask[cell]).astype(np.int64))
    assert np.array_equal(tiles.transpose(0, 2, 1).reshape(rows.shape), rows)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there are no features without the compiler")
def test_words_of_plainer_processors_are_the_same_and_cached_apart(tmp_path):
    """One cache serves processors with wide and narrow registers: each compiles for itself."""
    code = (
        "import json, numpy as np; from fastlb.accelerate import kernels, watching_compilation\n"
        "p = kernels('random.loads'); out, names = np.empty((2, 300), np.uint64), []\n"
        "with watching_compilation(lambda name, begins: names.append(name)):\n"
        "    keys = kernels('shared.philox').round_keys(9)\n"
        "    p.draw_rows(keys, 4, p.Law(None, None, None), None, out)\n"
        "compiled = 'fastlb.kernels.random.loads.draw_rows' in names\n"
        "print(json.dumps([compiled, out.tolist()]))"
    )
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    fewer = [f for f in features if not f.startswith(("+avx", "+vaes", "+vpcl"))]
    plainer = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ",".join(fewer)}
    streams = [np.random.Philox(key=9, counter=[0, 4 + t, 0, 0]) for t in range(2)]
    expected = [stream.random_raw(300).tolist() for stream in streams]
    for environment, compiled in (({}, True), (plainer, True), ({}, False)):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(run.stdout) == [compiled, expected]
