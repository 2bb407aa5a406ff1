"""What counts as evidence in `tests/benchmarks`: lines that the notes have, and all of them."""

from pathlib import Path

import pytest

from tests.benchmarks.retrieval.bench_evidence import Passage, Question
from tests.benchmarks.retrieval.dated_talks import write_talks

GARDEN, SHED = ("Garden.md", "The sage froze.\nIn January."), ("Shed.md", "The box is red.")


@pytest.mark.parametrize(
    ("passages", "answered"),
    [
        ([GARDEN, SHED], {"Garden.md", "Shed.md"}),
        ([SHED, ("Garden.md", "The sage froze.")], {"Shed.md"}),
        ([("Garden.md", "The sage froze."), ("Garden.md", "In January.")], {"Garden.md"}),
        ([("Other.md", GARDEN[1])], set()),
        ([], set()),
    ],
)
def test_a_note_answers_where_each_line_of_its_evidence_is_in_a_passage(
    passages: list[Passage], answered: set[str]
) -> None:
    lines = ("The sage froze.", "In January.")
    question = Question("What froze?", {"Garden.md": lines, "Shed.md": ()})
    assert question.find_answered(passages) == answered


def test_the_evidence_of_a_talk_is_in_its_notes(tmp_path: Path) -> None:
    questions = write_talks(tmp_path)
    assert len(questions) == 600
    for question in questions:
        assert question.answers == question.evidence.keys()
        for path, lines in question.evidence.items():
            text = (tmp_path / path).read_text("utf-8")
            assert lines
            assert all(line in text for line in lines)
