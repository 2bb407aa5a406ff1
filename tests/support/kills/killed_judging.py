"""A run that judges notes, killed after any number of answers, and a server that counts them.

The server gives some answers and holds the next ones. As soon as the verdicts of those that it gave
are stored, the program is killed. So each kill is at a known place, and nothing waits for time.
"""

import json
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.models.model_server import Answer, Body
from tests.support.models.note_judge import answer_with, list_shown
from tests.support.processes.program import Program, ended, kill, wait_until

__all__ = ["HoldingJudge", "kill_at", "list_planted", "name_set", "plant_notes"]


def plant_notes(folder: Path, count: int, sets: Sequence[int]) -> Path:
    """Write notes, of which as many as each set says have the words of that set.

    Args:
        folder: a new folder.
        count: the number of notes.
        sets: the sizes of the sets. The words of the set of 5 are "planted 5 times".
    """
    planted = {size: set(list_planted(count, size)) for size in sets}
    for number in range(count):
        lines = [f"# Note {number}", "", f"It rained on day {number} of the year.", ""]
        for size, places in planted.items():
            if name_note(number) in places:
                lines.append(f"Here stands **{name_set(size)}**, in note {number}.")
        note = folder / name_note(number)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("\n".join(lines) + "\n")
    return folder


def list_planted(count: int, size: int) -> list[str]:
    """Return the notes that have the words of a set, in the order of their paths."""
    step = count // size
    return [name_note(place * step + step // 3) for place in range(size)]


def name_note(number: int) -> str:
    """Return the path of a note."""
    return f"{number // 100:03}/Note {number:05}.md"


def name_set(size: int) -> str:
    """Return the words that the notes of a set have."""
    return f"planted {size} times"


@dataclass
class HoldingJudge:
    """A scripted judge that holds its answers after a number of them.

    Attributes:
        words: the words for which it says yes.
        answered: how many answers each note was in, by name.
    """

    words: str
    answered: Counter[str] = field(default_factory=Counter)
    _left: int | None = None
    _free: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: Body) -> Answer:
        """Answer about the notes of a request, or hold the answer until the program is gone."""
        with self._lock:
            free = self._free
            is_held = self._left == 0
            if self._left:
                self._left -= 1
            if not is_held:
                self.answered.update(note.name for note in list_shown(body))
        if is_held:
            free.wait()
        return answer_with([self._judge(note.number, note.text) for note in list_shown(body)])

    @property
    def is_holding(self) -> bool:
        """Whether all answers that may be given have been given."""
        with self._lock:
            return self._left == 0

    def hold_after(self, answers: int | None) -> None:
        """Give so many answers and hold all others, or hold none."""
        with self._lock:
            self._left = answers
            self._free.set()
            self._free = threading.Event()

    def _judge(self, number: int, text: str) -> dict[str, Any]:
        lines = [line for line in text.split("\n") if self.words in line]
        if not lines:
            return {"n": number, "verdict": "no"}
        return {"n": number, "verdict": "yes", "quote": lines[0].replace("*", "")}


def kill_at(
    program: Program, words: Sequence[str], judge: HoldingJudge, places: Sequence[int]
) -> Any:
    """Judge notes, kill the run at each place, and return the table of the last run.

    Args:
        words: the command line that judges all notes and prints JSON.
        judge: the judge of the server that the program calls.
        places: after how many more answers each run is killed.
    """
    others = count_stored(program)
    for answers in places:
        judge.hold_after(answers)
        child = program.start(*words)
        is_stored = partial(_is_stored, program, judge, others)
        wait_until(is_stored, f"{answers} answers stored", 180)
        kill(child)
    judge.hold_after(None)
    done = ended(program.start(*words))
    assert done.code == 0, done
    return json.loads(done.out)


def count_stored(program: Program) -> int:
    """Return how many verdicts of calls a program has stored, about all questions."""
    lines = [
        json.loads(line)
        for file in (program.home / "data" / "judged").glob("*.jsonl")
        for line in file.read_text().splitlines()
    ]
    return sum(len(line["verdicts"]) for line in lines if line["id"] == "call")


def _is_stored(program: Program, judge: HoldingJudge, others: int) -> bool:
    """Return whether the judge holds its answers, and all that it gave are stored.

    Args:
        others: the number of verdicts about other questions.
    """
    return judge.is_holding and count_stored(program) - others == judge.answered.total()
