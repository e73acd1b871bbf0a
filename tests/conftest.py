import gc
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Examples are the same in every run; the first call of a kernel compiles, hence no deadline.
settings.register_profile(
    "fastlb",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# For kernels that take seconds an example without the compiler.
settings.register_profile("plain", settings.get_profile("fastlb"), max_examples=6)
settings.load_profile("fastlb")

HERE = Path(__file__).parent
# The files that take longest with nothing compiled, in the order in which workers take them: those
# first that compile most, side by side such as compile different kernels.
FIRST = [
    "exchange/test_fault_batches.py",
    "exchange/test_dem_calls.py",
    "hexa_cells/test_properties_hexa_cell.py",
    "cli/test_balance.py",
    "exchange/test_dem_integers.py",
    "cli/test_doctor.py",
    "exchange/test_properties.py",
    "montecarlo/test_cluster.py",
    "test_plain_python.py",
    "cli/test_study.py",
    "exchange/test_properties_dde.py",
    "cli/test_hexa_cell.py",
    "exchange/test_gde_single.py",
    "exchange/test_dde_ways.py",
    "exchange/test_large_networks.py",
    "exchange/test_properties_faults.py",
    "montecarlo/test_studies_together.py",
    "cli/test_study_store.py",
    "programs/test_solve_binary.py",
    "test_readme.py",
    "test_docs.py",
    "test_typing.py",
    "reports/test_webpage.py",
    "flows/test_entities.py",
    "programs/test_binary_solution.py",
    "test_plain_python_faults.py",
    "test_accelerate.py",
    "test_warming.py",
]


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the process for its tests."""
    # A shell lets programs in the background, and their children, ignore interrupts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # pytest-xdist would begin with the files of most tests, and a long test would end alone.
    config.option.loadscopereorder = False
    # What numba makes while it compiles stays: looking through it again and again takes a tenth
    # of the time.
    gc.set_threshold(50_000, 20, 100)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first, so that workers end at about the same time."""
    rank = {HERE / name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.path, len(FIRST)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run slow tests at their full size")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether slow tests are to run at their full size."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a part of a store after every chunk."""
    from fastlb.montecarlo import storage

    monkeypatch.setattr(storage, "MIN_INTERVAL", 0.0)
    monkeypatch.setattr(storage, "INTERVAL_SHARE", 0.0)
