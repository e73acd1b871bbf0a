"""How fast a study goes, and how much time is left."""

import pytest

from fastlb.reports.progress import SPEED_OF_SECONDS, Pace, bar_columns, task_fields, update_bar


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_neither_stored_trials_nor_the_time_to_read_them_count():
    clock = Clock()
    pace = Pace(clock)
    assert pace.speed(1_000_000) is None
    for clock.now in (1.0, 30.0, 60.0):
        assert pace.speed(1_000_000) is None
    clock.now = 62.0
    assert pace.speed(1_000_020) == 10


def test_the_speed_is_that_of_the_last_minutes():
    clock = Clock()
    pace = Pace(clock)
    pace.speed(0)
    clock.now = 10 * SPEED_OF_SECONDS
    assert pace.speed(10) == 10 / clock.now
    for _ in range(40):
        clock.now += SPEED_OF_SECONDS / 20
        speed = pace.speed(round(clock.now))
    assert speed == pytest.approx(1, rel=0.1)


def test_the_bar_tells_the_time_that_is_left():
    progress = pytest.importorskip("rich.progress")
    with progress.Progress(disable=True) as bar:
        task = bar.add_task("x", **task_fields())
        clock = Clock()
        bar.tasks[0].fields["pace"] = Pace(clock)
        update_bar(bar, task, 900, 1000)
        assert bar.tasks[0].fields["remaining"] == ""
        clock.now = 2.0
        update_bar(bar, task, 910, 1000)
        shown = bar.tasks[0].fields
        assert (shown["counted"], shown["speed"], shown["remaining"]) == (
            "910/1,000",
            "5.0 trials/s",
            "0:00:18",
        )


def test_the_work_may_be_named_after_any_file() -> None:
    pytest.importorskip("rich")
    # "[/x]" would be an error where descriptions are markup.
    assert bar_columns()[0].markup is False
