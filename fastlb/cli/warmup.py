"""``fastlb warmup``: compile kernels ahead of use, on all processors."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import click

from .processors import processors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..warming import Part

NAMES = (
    "dem", "gde", "dde", "hexa_cell", "fault_tolerant_dem", "minimax_flow", "maximum_flow",
    "minimum_cost_flow", "assign_tasks", "solve_binary", "search_speedup", "schedule",
    "place_experts", "networkx", "sample_loads", "run",
)  # fmt: skip
DTYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
)  # fmt: skip
EXAMPLES = """
\b
Examples:
  fastlb warmup                     all functions, loads of int64
  fastlb warmup dem dde --dtype int32 --dtype float64
  fastlb warmup --all               all functions, loads of every dtype
  NUMBA_CACHE_DIR=/shared/kernels fastlb warmup
                                    for all machines of a cluster that have
                                    the same processor

\b
Functions: dem, gde, dde, hexa_cell, fault_tolerant_dem, minimax_flow,
maximum_flow, minimum_cost_flow, assign_tasks, solve_binary, search_speedup,
schedule, place_experts, networkx (connectivity and cuts of its backend),
sample_loads, run (studies).

\b
Kernels are compiled once for each processor, version of Python, and dtype of
loads, and kept in NUMBA_CACHE_DIR if that is set, else beside the installed
package, or in the user's cache folder if that is read-only. In a container
image run it as the last step, on the processor that will run the image, or
with NUMBA_CPU_NAME and NUMBA_CPU_FEATURES set to that processor's.
"""


@click.command(epilog=EXAMPLES)
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar="[NAMES]...")
@click.option("--all", "every", is_flag=True, help="Loads of every dtype.")
@click.option(
    "--dtype", "dtypes", multiple=True, type=click.Choice(DTYPES), metavar="DTYPE",
    help="Of the loads; may be repeated.  [default: int64]",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Processes.  [default: all processors]"
)
@click.pass_context
def warmup(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    every: bool,
    dtypes: tuple[str, ...],
    jobs: int | None,
) -> None:
    """Compile the kernels of some functions, or of all, so that no later call has to.

    Exit codes: 0 done, 1 there is no folder to keep them in, 2 bad input.
    """
    if every and dtypes:
        raise click.UsageError("give --all or --dtype, not both", ctx)
    from numba import config

    from ..warming import parts
    from .cachefolder import cache_folder, load_all_kernels
    from .terminal import working

    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise click.ClickException("NUMBA_DISABLE_JIT is set: nothing is compiled")
    work = parts(names, DTYPES if every else dtypes or ("int64",))
    load_all_kernels()
    start_time, before = time.perf_counter(), cache_folder()
    with working() as bar:
        bar.step("compiling kernels")
        compiled = False
        for done, compiled_any in enumerate(_compile_all(work, jobs or processors()), start=1):
            compiled |= compiled_any
            bar.count(done, len(work))
        if compiled and jobs != 1:
            # Two processes that add to the cache of one function at once may lose an entry.
            bar.step("looking whether all kernels are kept")
            for done, part in enumerate(work, start=1):
                _compile(part)
                bar.count(done, len(work))
    seconds, after = time.perf_counter() - start_time, cache_folder()
    if after.path is None or not after.kernels:
        click.echo("no folder for compiled kernels can be written: nothing is kept")
        ctx.exit(1)
    count, size = after.kernels - before.kernels, after.bytes - before.bytes
    click.echo(
        f"compiled {count} kernels, {size / 1e6:.1f} MB, in {seconds:.0f} s"
        if compiled
        else "all were compiled before"
    )
    click.echo(f"{after.path}: {after.kernels} kernels, {after.bytes / 1e6:.1f} MB")


def _compile_all(work: list[Part], jobs: int) -> Iterator[bool]:
    """Compile all parts; yield for each completed one whether it compiled anything."""
    jobs = min(jobs, len(work))
    if jobs == 1:
        yield from map(_compile, work)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_end_at_interrupts) as executor:
        try:
            for future in as_completed([executor.submit(_compile, part) for part in work]):
                yield future.result()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _compile(part: Part) -> bool:
    """Run a part and return whether that compiled anything."""
    from ..accelerate import watching_compilation

    names: list[str] = []

    def watch(name: str, begins: bool) -> None:
        if begins and name.startswith("fastlb.kernels."):
            names.append(name)

    with watching_compilation(watch):
        part.run()
    return bool(names)


def _end_at_interrupts() -> None:
    """Let Ctrl-C, which all processes of a terminal receive, end a worker without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
