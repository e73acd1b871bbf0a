"""The vectors that Philox is compiled to, each way to multiply against whole numbers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import ir
from numba import config, njit, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from fastlb.accelerate import kernels

PLAIN = bool(config.DISABLE_JIT)
EDGES = [
    near + off
    for near in (0, 2**12, 2**32, 2**40, 2**52, 2**63, 2**64 - 2**52, 2**64 - 2**12, 2**64)
    for off in (-1, 0, 1)
    if 0 <= near + off < 2**64
]


@pytest.fixture(scope="module")
def philox():
    return kernels("random.philox")


def has_fused_products():
    return "+avx512ifma" in cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def test_the_way_to_multiply_is_the_processors(philox):
    expected = philox._multiply_fused if has_fused_products() else philox._multiply_halves
    assert philox._way_to_multiply() is expected


def compiled(philox, build, factor):
    """Return a function that multiplies 8 words by a factor as ``build`` says."""

    @intrinsic
    def multiply(_typing, words, high, low):
        def generate(context, builder, signature, arguments):
            arrays = philox._Arrays(context, builder, signature, arguments)
            start = ir.Constant(ir.IntType(64), 0)
            found = build(builder, arrays.load(0, start), factor)
            for number, part in enumerate(found):
                arrays.store(1 + number, start, part)
            return context.get_dummy_value()

        return types.none(words, high, low), generate

    return njit(lambda words, high, low: multiply(words, high, low))


@pytest.mark.skipif(PLAIN, reason="there are no vectors without the compiler")
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("way", ["halves", "fused"])
def test_products_are_exact(philox, way, which):
    if way == "fused" and not has_fused_products():
        pytest.skip("the processor has no 52-bit products")
    factor = (philox.MULTIPLIER_0, philox.MULTIPLIER_1)[which]
    multiply = compiled(philox, getattr(philox, f"_multiply_{way}"), factor)
    high, low = np.empty(8, np.uint64), np.empty(8, np.uint64)
    # Words whose product ends just below and just above where a carry begins.
    inverse = pow(int(factor), -1, 2**64)
    carries = [edge * inverse % 2**64 for edge in EDGES]
    random = np.random.default_rng(5).integers(0, 2**64, 20_000, dtype=np.uint64).tolist()
    numbers = EDGES + carries + random
    numbers += [0] * (-len(numbers) % 8)
    for words in np.array(numbers, dtype=np.uint64).reshape(-1, 8):
        multiply(words, high, low)
        found = [(int(h) << 64) + int(w) for h, w in zip(high, low, strict=True)]
        assert found == [int(word) * int(factor) for word in words]


def test_the_end_of_a_factor_leaves_room_for_what_is_added(philox):
    for factor in (philox.MULTIPLIER_0, philox.MULTIPLIER_1):
        end = int(factor) % 2**12
        assert (2**52 - 1) + (2**12 - 1) * end * 2**40 + ((2**52 - 1) * end >> 12) < 2**64


@pytest.mark.parametrize("width", [16, 32, 48, 80])
def test_rounds_of_tiles_are_those_of_each_lane(philox, width):
    words = np.array((EDGES * 5)[: 2 * width], dtype=np.uint64)
    high, low = words[:width].copy(), words[::-1][:width].copy()
    keys = philox.round_keys(2**100 + 3)
    state = np.empty(4 * width, np.uint64)
    first = tuple(np.array([2**64 - 1, 2**52, 2**32 - 1], dtype=np.uint64))

    @njit
    def rounds(first, high, low, keys, state):
        philox_rounds(first, high, low, keys, state)

    philox_rounds = philox._rounds
    rounds(first, high, low, keys, state)
    for w in range(width):
        lane = philox._cipher(first[0], first[1], first[2] ^ high[w], low[w], keys, 2)
        assert state[w::width].tolist() == [int(word) for word in lane]


@pytest.mark.parametrize("count", [1, 31, 32, 33, 64])
def test_blocks_are_those_of_each_counter(philox, count):
    blocks = philox._blocks
    numbers = np.array((EDGES * 3)[:64], dtype=np.uint64)
    trials = numbers[::-1].copy()
    keys = philox.round_keys(2**128 - 1)
    strip = np.empty(4 * 64, np.uint64)

    @njit
    def draw(numbers, trials, count, keys, strip):
        blocks(numbers, trials, count, keys, strip)

    draw(numbers, trials, count, keys, strip)
    for u in range(count):
        counter = [int(numbers[u]), int(trials[u]), 0, 0]
        # NumPy counts up before it draws.
        before = (counter[0] + (counter[1] << 64) - 1) % 2**256
        parts = np.array([before >> 64 * k & (2**64 - 1) for k in range(4)], dtype=np.uint64)
        stream = np.random.Philox(key=2**128 - 1, counter=parts)
        assert strip[4 * u : 4 * u + 4].tolist() == stream.random_raw(4).tolist()


@pytest.mark.skipif(PLAIN, reason="there are no features without the compiler")
def test_words_of_plainer_processors_are_the_same_and_cached_apart(tmp_path):
    """One cache serves processors with and without 52-bit products: each compiles for itself."""
    code = (
        "import json, numpy as np; from fastlb.accelerate import kernels\n"
        "p = kernels('random.philox'); out = np.empty((2, 300), np.uint64)\n"
        "p.words(p.round_keys(9), 4, out)\n"
        "hits = sum(p.words.stats.cache_hits.values())\n"
        "print(json.dumps([hits, out.tolist()]))"
    )
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    fewer = [f for f in features if not f.startswith(("+avx", "+vaes", "+vpcl"))]
    plainer = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ",".join(fewer)}
    streams = [np.random.Philox(key=9, counter=[0, 4 + t, 0, 0]) for t in range(2)]
    expected = [stream.random_raw(300).tolist() for stream in streams]
    for environment, hits in (({}, 0), (plainer, 0), ({}, 1)):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(run.stdout) == [hits, expected]
