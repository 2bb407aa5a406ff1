"""Stored verdicts can be deleted, and leave with an excluded note. A saved table is no note."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import NotFound
from app.judge.judging import JudgeFinished
from app.judge.store import JudgeBusy
from app.judge.table import JudgeRequest, JudgeTable
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.models.note_judge import PLANTED, judge_by_words, list_shown

WHOLE = JudgeRequest("Where did I promise something to my sister?")
OTHER = JudgeRequest("Where did it rain?")
NOTES = {
    "Day.md": f"# Day\n\n{PLANTED} a chair.\n",
    "Copies/Day.md": f"# Day\n\n{PLANTED} a chair.\n",
    "Rain.md": "# Rain\n\nIt rained.\n",
    "Long.md": "\n\n".join(f"# Part {n}\n\n" + "Nothing of note. " * 300 for n in range(8)),
}


@pytest.fixture
def vault(assistant: Assistant, server: ModelServer, tmp_path: Path) -> Path:
    folder = write_notes(tmp_path / "vault", NOTES)
    assistant.open_vault(folder, remember=False)
    list(assistant.index(CancelToken()))
    server.script(judge_by_words)
    return folder


@pytest.fixture
def judge(assistant: Assistant, vault: Path) -> Callable[..., JudgeTable]:
    def judging(request: JudgeRequest = WHOLE) -> JudgeTable:
        list(assistant.index(CancelToken()))
        *_, last = assistant.judging.judge(request, CancelToken())
        assert isinstance(last, JudgeFinished)
        assert last.table.counts.is_closed
        return last.table

    return judging


@pytest.fixture
def stored(assistant: Assistant) -> Callable[[], frozenset[str]]:
    """Return the keys of all stored verdicts."""

    def read() -> Iterator[str]:
        for path in assistant.paths.judged.glob("*.jsonl"):
            for line in path.read_text().splitlines():
                yield from json.loads(line).get("verdicts", {})

    return lambda: frozenset(read())


def test_verdicts_are_deleted_by_question_or_all(
    judge: Callable[..., JudgeTable], assistant: Assistant, server: ModelServer
) -> None:
    judge()
    judge(OTHER)
    kept = assistant.kept_verdicts
    assert {one.question for one in kept.list_questions()} == {WHOLE.question, OTHER.question}
    (gone,) = kept.forget("where  did it rain ?")
    assert (gone.question, gone.verdicts > 0) == (OTHER.question, True)
    assert [one.question for one in kept.list_questions()] == [WHOLE.question]
    assert judge().calls == 0
    assert judge(OTHER).calls > 0
    assert sum(one.verdicts for one in kept.forget()) > 0
    assert (kept.list_questions(), kept.forget()) == ((), ())
    assert not [*assistant.paths.judged.glob("*.jsonl")]
    before = len(server.bodies)
    assert judge().counts.yes == 2
    assert len(server.bodies) > before


def test_an_unknown_question_or_model_is_an_error_that_names_those_stored(
    judge: Callable[..., JudgeTable], assistant: Assistant
) -> None:
    kept = assistant.kept_verdicts
    with pytest.raises(NotFound):
        kept.forget("Where did it rain?")
    judge()
    judge(OTHER)
    with pytest.raises(NotFound) as caught:
        kept.forget("Where did it snow?")
    hint = str(caught.value.hint)
    assert hint.index(OTHER.question) < hint.index(WHOLE.question)
    with pytest.raises(NotFound, match="by other"):
        kept.forget(OTHER.question, "other")
    assert len(kept.list_questions()) == 2
    (stored,) = kept.find(OTHER.question)
    assert [one.question for one in kept.forget(OTHER.question, stored.model.upper())] == [
        OTHER.question
    ]


def test_failures_are_not_counted_as_verdicts(
    judge: Callable[..., JudgeTable], assistant: Assistant, server: ModelServer
) -> None:
    server.script(lambda _body: Answer(" "))
    table = judge()
    assert {row.reason for row in table.rows if row.verdict == "failed"} == {"the reply is empty"}
    (stored,) = assistant.kept_verdicts.list_questions()
    assert (stored.verdicts, stored.failures > 0) == (0, True)
    assert stored.sentence.startswith(f"0 verdicts, {stored.failures} failures by ")
    server.script(judge_by_words)
    judge(JudgeRequest(WHOLE.question, retries=True))
    (stored,) = assistant.kept_verdicts.list_questions()
    assert (stored.verdicts > 0, stored.failures) == (True, 0)


def test_verdicts_of_a_running_question_stay_and_others_are_deleted(
    judge: Callable[..., JudgeTable], assistant: Assistant, vault: Path, server: ModelServer
) -> None:
    judge()
    judge(OTHER)
    run = assistant.judging.judge(JudgeRequest(WHOLE.question, retries=True), CancelToken())
    server.script(judge_by_words)
    (vault / "Day.md").write_text("Another day.\n")
    list(assistant.index(CancelToken()))
    next(run)
    with pytest.raises(JudgeBusy):
        assistant.kept_verdicts.forget()
    run.close()
    assert [one.question for one in assistant.kept_verdicts.list_questions()] == [WHOLE.question]


@pytest.mark.parametrize("name", ["Rain", "Long"])
@pytest.mark.parametrize("how", ["rule", "moved"])
def test_verdicts_on_a_note_leave_when_it_is_excluded(
    name: str,
    how: str,
    judge: Callable[..., JudgeTable],
    assistant: Assistant,
    vault: Path,
    stored: Callable[[], frozenset[str]],
) -> None:
    assistant.settings.set("vault.exclude", ["Secret/"])
    judge()
    alone = len(stored())
    note = vault / f"{name}.md"
    if how == "rule":
        assistant.settings.set("vault.exclude", ["Secret/", f"{name}.md"])
    else:
        (vault / "Secret").mkdir()
        note.rename(vault / "Secret" / note.name)
        list(assistant.index(CancelToken()))
    assert len(stored()) < alone
    table = assistant.judging.read(WHOLE)
    assert (table.excluded, table.counts.waiting) == (1, 0)


def test_a_verdict_stays_for_a_copy_that_models_may_read(
    judge: Callable[..., JudgeTable], assistant: Assistant, stored: Callable[[], frozenset[str]]
) -> None:
    judge()
    before = stored()
    assistant.settings.set("vault.exclude", ["Copies/"])
    assert stored() == before
    assistant.settings.set("vault.exclude", ["Copies/", "/Day.md"])
    assert len(stored()) == len(before) - 1


def test_a_saved_table_is_not_judged_as_a_note(
    judge: Callable[..., JudgeTable], assistant: Assistant, vault: Path, server: ModelServer
) -> None:
    path, _ = assistant.judging.save(judge())
    before = len(server.bodies)
    table = judge(OTHER)
    assert path.removesuffix(".md") not in {
        note.name for body in server.bodies[before:] for note in list_shown(body)
    }
    (row,) = (row for row in table.rows if row.path == path)
    assert (row.verdict, row.by, row.reason) == ("no", "rule", "Strata wrote it from other notes")
    assert judge(JudgeRequest(f'contain "{PLANTED}"')).counts.yes == 2
    assert assistant.judging.read(JudgeRequest("x", model="extractive")).counts.by_rule == 1


def test_what_the_user_wrote_beside_a_saved_table_is_judged(
    judge: Callable[..., JudgeTable], assistant: Assistant, vault: Path, server: ModelServer
) -> None:
    path, _ = assistant.judging.save(judge())
    text = (vault / path).read_text()
    assert f"“{PLANTED} a chair”" in text
    (vault / path).write_text(f"Mine.\n\n{text}\nNothing more.\n")
    before = len(server.bodies)
    table = judge()
    (shown,) = (note for body in server.bodies[before:] for note in list_shown(body))
    assert shown.text.split() == ["Mine.", "Nothing", "more."]
    assert table.counts.yes == 2
    (vault / path).write_text(f"Mine.\n\n{text}\n{PLANTED} a table, in this note.\n")
    (row,) = (row for row in judge().rows if row.path == path)
    assert row.quote == f"{PLANTED} a table, in this note"
    assert row.lines == ((vault / path).read_text().count("\n"),) * 2
