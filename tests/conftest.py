import signal

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


def pytest_configure() -> None:
    """Hear interrupts, which a shell lets programs in the background ignore, and their children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run slow tests at their full size")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether slow tests are to run at their full size."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a part of a store after every chunk."""
    from fastlb.montecarlo import keeper

    monkeypatch.setattr(keeper, "SOONEST", 0.0)
    monkeypatch.setattr(keeper, "SHARE", 0.0)
