"""What is remembered about a model from the requests that its service refused."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import Popen

import pytest

from app.config.learned import LearnedModels
from chains.llm.request_shape import USUAL_SHAPE, RequestShape

MODEL, OTHER = "http://127.0.0.1:1/v1 openai/x", "http://127.0.0.1:1/v1 openai/y"
SHAPE = RequestShape(frozenset({"temperature"}), frozenset({"system_in_user"}))


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def learned(tmp_path: Path, clock: Clock) -> LearnedModels:
    return LearnedModels(tmp_path / "limits.json", clock)


def test_a_shape_is_kept_for_its_model_alone(learned: LearnedModels, tmp_path: Path) -> None:
    learned.learn_shape(MODEL, SHAPE)
    assert LearnedModels(tmp_path / "limits.json", learned._now).find_shape(MODEL) == SHAPE
    assert learned.find_shape(OTHER) == USUAL_SHAPE
    assert learned.find_shape("") == USUAL_SHAPE


def test_a_shape_is_tried_anew_after_thirty_days(learned: LearnedModels, clock: Clock) -> None:
    learned.learn_shape(MODEL, SHAPE)
    clock.time += timedelta(days=30) - timedelta(seconds=1)
    assert learned.find_shape(MODEL) == SHAPE
    clock.time += timedelta(seconds=1)
    assert learned.find_shape(MODEL) == USUAL_SHAPE


def test_what_is_learned_later_leaves_the_earlier_dates(
    learned: LearnedModels, clock: Clock
) -> None:
    learned.learn_shape(MODEL, RequestShape(frozenset({"temperature"})))
    clock.time += timedelta(days=20)
    learned.learn_shape(MODEL, SHAPE)
    (shape,) = learned.list_shapes()
    assert [part["until"][:10] for part in shape.to_dict()["parts"]] == ["2026-02-20", "2026-01-31"]
    assert shape.to_dict()["until"][:10] == "2026-01-31"
    clock.time += timedelta(days=10)
    assert learned.find_shape(MODEL) == RequestShape(forms=frozenset({"system_in_user"}))
    learned.learn_shape(MODEL, SHAPE)  # the server refused the temperature again
    clock.time += timedelta(days=20)
    assert learned.find_shape(MODEL) == RequestShape(frozenset({"temperature"}))
    clock.time += timedelta(days=10)
    assert learned.find_shape(MODEL) == USUAL_SHAPE


def test_a_shape_of_an_earlier_version_has_one_date(
    learned: LearnedModels, tmp_path: Path, clock: Clock
) -> None:
    stored = {"shape": SHAPE.to_dict(), "shapeLearned": clock.time.isoformat()}
    (tmp_path / "limits.json").write_text(json.dumps({MODEL: stored}))
    clock.time += timedelta(days=15)
    learned.learn_shape(MODEL, SHAPE.without_fields(["stream_options"]))
    clock.time += timedelta(days=15)
    assert learned.find_shape(MODEL) == RequestShape(frozenset({"stream_options"}))


def test_what_two_processes_learn_at_once_is_kept_of_both(tmp_path: Path) -> None:
    """A shape for one model, a limit for another, and two fields of a third, many times over."""
    path = tmp_path / "state" / "limits.json"
    script = """
import sys
from pathlib import Path
from app.config.learned import LearnedModels
from chains.llm.request_shape import RequestShape

learned, name = LearnedModels(Path(sys.argv[1])), sys.argv[2]
for n in range(30):
    learned.learn_limit(f"{name} {n}", n + 1, None)
    learned.learn_shape(f"both {n}", RequestShape(frozenset({name})))
"""
    names = ("temperature", "stream_options")
    started = [Popen([sys.executable, "-c", script, str(path), name]) for name in names]
    assert [process.wait(120) for process in started] == [0, 0]
    learned = LearnedModels(path)
    for n in range(30):
        assert [learned.find_limit(f"{name} {n}", None) for name in names] == [n + 1, n + 1]
        assert learned.find_shape(f"both {n}") == RequestShape(frozenset(names))


def test_a_shape_from_a_clock_that_went_wrong_is_not_kept_for_ever(
    learned: LearnedModels, clock: Clock
) -> None:
    learned.learn_shape(MODEL, SHAPE)
    clock.time -= timedelta(days=1)
    assert learned.find_shape(MODEL) == USUAL_SHAPE


def test_a_forgotten_shape_leaves_the_limit(learned: LearnedModels) -> None:
    learned.learn_shape(MODEL, SHAPE)
    learned.learn_limit(MODEL, 5_000, None)
    assert (learned.find_shape(MODEL), learned.find_limit(MODEL, None)) == (SHAPE, 5_000)
    learned.forget_shape(MODEL)
    assert (learned.find_shape(MODEL), learned.find_limit(MODEL, None)) == (USUAL_SHAPE, 5_000)


@pytest.mark.parametrize(
    "text",
    [
        "[1",
        "[]",
        json.dumps({MODEL: 3}),
        json.dumps({MODEL: {"limit": "x", "shape": 4, "shapeLearned": 5}}),
        json.dumps({MODEL: {"shape": SHAPE.to_dict(), "shapeLearned": "2026-01-01"}}),
    ],
)
def test_a_damaged_file_counts_as_empty_and_is_written_anew(
    learned: LearnedModels, tmp_path: Path, text: str
) -> None:
    (tmp_path / "limits.json").write_text(text)
    assert learned.find_limit(MODEL, None) is None
    assert learned.find_shape(MODEL) == USUAL_SHAPE
    learned.learn_limit(MODEL, 5_000, None)
    learned.learn_shape(MODEL, SHAPE)
    assert learned.find_limit(MODEL, None) == 5_000
    assert learned.find_limit(MODEL, 8_000) is None
    assert learned.find_shape(MODEL) == SHAPE
