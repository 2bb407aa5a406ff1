"""A question to a vault that is not indexed yet, with the real embedding model."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.library.indexing import (
    FEW_NOTES,
    LONGEST_EMBEDDING_S,
    LONGEST_READING_S,
    USUAL_WAIT_S,
    AnswerUpdates,
    IndexListener,
    _is_long,
)
from app.library.library import Library
from chains.cancel import CancelToken
from chains.events import IndexProgressed
from chains.request.ask import Ask
from tests.support.models.remembering_embedder import RememberingEmbedder
from tests.support.sessions.turns import ask, result_of
from vault.errors import EmbedderFailed
from vault.indexing.progress import IndexProgress, IndexReport
from vault.vault import Vault

NOTES = 240


@pytest.fixture
def large(
    assistant: Assistant,
    embedder: RememberingEmbedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Library]:
    """A vault that is open and not indexed yet; no question waits for it.

    Only its first passages are embedded until the test lets the others go on.
    """
    monkeypatch.setattr(embedder, "goes_on", threading.Event())
    monkeypatch.setattr("app.library.indexing.USUAL_WAIT_S", 0.0)
    notes = tmp_path / "large"
    notes.mkdir()
    for number in range(NOTES):
        text = f"# Row {number}\n\nThe password of row {number} is melon{number}.\n"
        (notes / f"row-{number}.md").write_text(text, "utf-8")
    assistant.open_vault(notes, remember=False)
    library = assistant.library
    assert library is not None
    yield library
    library.close()


def wait_for_end(library: Library, embedder: RememberingEmbedder) -> None:
    embedder.goes_on.set()
    for run in library._answers._runs:
        run._thread.join(120)
    assert not library.is_updating


def test_a_question_in_the_middle_of_the_vectors_is_answered_from_the_words(
    assistant: Assistant, large: Library, embedder: RememberingEmbedder
) -> None:
    events = ask(assistant, "What is the password of row 17?")
    last = [event.progress for event in events if isinstance(event, IndexProgressed)][-1]
    assert (last.phase, last.done < NOTES) == ("embed", True)
    result = result_of(events)
    assert "melon17" in result.answer.text
    (said,) = result.warnings
    assert said.endswith(f" of {NOTES} notes searched by meaning, all by words.")
    assert large.is_updating  # the answer did not end it
    wait_for_end(large, embedder)
    again = ask(assistant, "What is the password of row 18?")
    assert "melon18" in result_of(again).answer.text
    assert result_of(again).warnings == ()
    assert large.vault.status().gap is None


def test_a_second_question_does_not_wait_for_the_vectors_either(
    assistant: Assistant, large: Library
) -> None:
    ask(assistant, "What is the password of row 17?")
    events = ask(assistant, "What is the password of row 18?")
    assert not any(isinstance(event, IndexProgressed) for event in events)
    assert "melon18" in result_of(events).answer.text


def test_what_goes_on_after_an_answer_is_told_to_the_listener(
    assistant: Assistant, large: Library, embedder: RememberingEmbedder
) -> None:
    told: list[IndexProgress | IndexReport] = []
    large._answers.listener = IndexListener(told.append, told.append)
    ask(assistant, "What is the password of row 17?")
    wait_for_end(large, embedder)
    assert isinstance(told[-1], IndexReport)
    assert told[-1].is_complete
    assert told[-1].notes == NOTES
    assert {at.phase for at in told[:-1] if isinstance(at, IndexProgress)} >= {"embed", "done"}


def test_closing_ends_an_update_that_went_on(assistant: Assistant, large: Library) -> None:
    ask(assistant, "What is the password of row 17?")
    assert large.is_updating
    large.close()
    assert not large.is_updating


def test_an_attached_note_is_embedded_before_the_others(
    assistant: Assistant, large: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    preferred: list[Any] = []
    priority = large.vault.updates.priority
    monkeypatch.setattr(
        priority, "prefer", lambda paths, question="": preferred.append((set(paths), question))
    )
    request = Ask("How about it?", attach=("row-3.md",))
    for _ in assistant.ask(request, CancelToken()):
        pass
    assert preferred[0] == ({"row-3.md"}, "How about it?")


def test_an_update_that_fails_after_the_answer_is_told_to_the_listener(
    large: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    large_is_left = threading.Event()

    def update(_self: Vault, progress: Any, *_rest: object, **_how: object) -> None:
        progress(IndexProgress("embed", "", 0, NOTES))
        large_is_left.wait(30)
        raise EmbedderFailed("The model is gone.")

    failures: list[Exception] = []
    monkeypatch.setattr(Vault, "update", update)
    updates = AnswerUpdates(large.vault)
    updates.listener = IndexListener(failed=failures.append)
    assert [type(event).__name__ for event in updates.update(CancelToken())] == [
        "Step",
        "IndexProgressed",
    ]
    (run,) = updates._runs
    large_is_left.set()
    run._thread.join(30)
    assert [str(error) for error in failures] == ["The model is gone."]


@pytest.mark.parametrize(
    ("phase", "done", "seconds", "is_over"),
    [
        ("scan", 0, LONGEST_READING_S - 1, False),
        ("scan", 0, LONGEST_READING_S + 1, True),
        ("embed", 0, USUAL_WAIT_S - 1, False),
        ("embed", 0, USUAL_WAIT_S + 1, True),
        ("embed", NOTES - FEW_NOTES, USUAL_WAIT_S + 1, False),
        ("embed", NOTES - FEW_NOTES, LONGEST_EMBEDDING_S + 1, True),
        ("store", 0, 0.0, True),
    ],
)
def test_a_question_waits_longer_the_less_remains(
    phase: Any, done: int, seconds: float, is_over: bool
) -> None:
    at, began = IndexProgress(phase, "", done, NOTES), time.monotonic() - seconds
    assert _is_long(at, began, began) is is_over
