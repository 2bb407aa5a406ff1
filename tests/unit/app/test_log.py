import logging
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import log, secret_text


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "state" / "strata.log"
    log.start_log(path)
    yield path
    log.stop_log()


def test_our_packages_are_written_and_libraries_are_not(file: Path) -> None:
    logging.getLogger("app.somewhere").info("ours")
    logging.getLogger("httpx").warning("theirs")
    text = file.read_text("utf-8")
    assert "INFO app.somewhere: ours" in text
    assert "theirs" not in text


def test_the_log_is_for_its_owner_alone(file: Path) -> None:
    logging.getLogger("app").info("x")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("place", ["link", "dangling link", "fifo", "folder"])
def test_nothing_but_a_file_is_taken_for_the_log(tmp_path: Path, place: str) -> None:
    note, path = tmp_path / "note.md", tmp_path / "strata.log"
    if place == "fifo":
        os.mkfifo(path)
    elif place == "folder":
        path.mkdir()
    else:
        path.symlink_to(note)
    if place == "link":
        note.write_text("A note.")
    with pytest.raises(OSError):  # noqa: PT011 - each kind has an error of its own
        log.start_log(path)
    logging.getLogger("app").warning("x")
    assert (note.read_text() if note.exists() else "") == ("A note." if place == "link" else "")


def test_a_link_in_the_place_of_an_older_log_is_not_followed(file: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("A note.")
    for number in (1, 2, 3):
        file.with_name(f"strata.log.{number}").symlink_to(note)
    for _ in range(50):
        logging.getLogger("app").info("%s", "x" * 100_000)
    assert note.read_text() == "A note."
    assert not file.with_name("strata.log.1").is_symlink()


def test_a_rotated_log_stays_private_and_small(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(40):
        logging.getLogger("app").info("%s", "x" * 100_000)
    files = sorted(file.parent.iterdir())
    assert [path.name for path in files] == [
        "strata.log",
        "strata.log.1",
        "strata.log.2",
        "strata.log.3",
    ]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_a_message_cannot_forge_a_line_or_steer_a_terminal(file: Path) -> None:
    logging.getLogger("vault").info("path %s", "a\n2030-01-01 ERROR app: forged\x1b[2J")
    lines = file.read_text("utf-8").splitlines()
    assert len(lines) == 1
    assert "\x1b" not in lines[0]


def test_a_key_in_a_trace_is_hidden(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret_text.hide("correct-horse-battery")
    try:
        int("correct-horse-battery")
    except ValueError:
        logging.getLogger("app").exception("calling with correct-horse-battery")
    caplog.clear()
    text = file.read_text("utf-8")
    assert "correct-horse" not in text
    assert "Traceback" in text


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdef123456",
        "{'api_key': 'abcdef123456'}",
        '{"api_key": "abcdef123456"}',
        "x-api-key: abcdef123456",
        "got sk-abcdef123456 from a file",
        "got sk-proj-abcdef123456",
        "GET /v1?key=AIzaabcdef123456abcdef123456",
    ],
)
def test_what_looks_like_a_key_is_hidden_though_nobody_named_it(text: str) -> None:
    assert "abcdef123456" not in secret_text.redact(text)


@pytest.mark.parametrize("text", ["12 tokens: 3 used", "task-force", "the key is under the mat"])
def test_ordinary_words_stay(text: str) -> None:
    assert secret_text.redact(text) == text


@given(st.text(st.characters(categories=["L", "N", "P"]), min_size=8), st.text(), st.text())
def test_a_known_key_never_survives(key: str, before: str, after: str) -> None:
    secret_text.hide(key)
    try:
        assert key not in secret_text.redact(before + key + after)
    finally:
        secret_text._hidden.discard(key)


def test_a_log_that_cannot_be_written_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    full = Path("/dev/full")
    try:
        handler = log._PrivateFile(full, encoding="utf-8", delay=True)
        handler.emit(logging.LogRecord("app", logging.INFO, "", 0, "text", (), None))
    finally:
        with suppress(OSError):
            handler.close()
    assert capfd.readouterr() == ("", "")
