import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run slow tests at their full size")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether slow tests are to run at their full size."""
    return bool(request.config.getoption("--full"))
