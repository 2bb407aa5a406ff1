"""How well a person's questions to their own notes are answered without a model: 160 questions.

`questions/life.jsonl`, `questions/theatre.jsonl` and `questions/nurse.jsonl` ask the vaults of
`life_vault`, in English and German, and twice in English and French. Vault and questions were
written down before the first was asked, and without a look at the code; every third question is
`kept_aside`. An answer is

- right if it lists exactly the expected notes, tells the expected count, shows all expected words,
  or, where the notes do not say it, admits that,
- untrue if it tells a false count of notes or tasks, says *none* of what there is, or shows what
  is ruled out,
- missed in all other cases.

Whether a sentence is untrue in another way, only a reader sees. `STRATA_BENCH_ANSWERS` is a file
that the answers are written to.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from app.assistant import Assistant
from app.paths import HOME_VARIABLE, Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import AskResult, TurnEnded
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from tests.benchmarks.measure import Ratio
from tests.benchmarks.retrieval.bench_phrasings import QUESTIONS, grade_list, shows_all, tell_count
from tests.benchmarks.retrieval.life_vault import LifeName, write_life_vault

LIVES: Final[tuple[LifeName, ...]] = ("life", "theatre", "nurse")
_ADMISSIONS: Final = frozenset({"doubt", "nothing"})

Verdict = Literal["right", "untrue", "missed"]


@dataclass(frozen=True)
class LifeQuestion:
    """A question to a vault, and what its answer shows if it is right.

    Attributes:
        right: regular expressions, or the titles of all notes, or the count.
        never: regular expressions that a true answer does not show.
    """

    id: str
    language: str
    about: str
    question: str
    asks: Literal["notes", "count", "value", "both", "absent"]
    right: tuple[str, ...]
    never: tuple[str, ...]
    kept_aside: bool


GradedAnswer = tuple[LifeQuestion, Verdict, AskResult]


def run(folder: Path) -> list[Ratio]:
    """Ask all questions, and print what was not right."""
    graded = {name: _ask_all(folder / name, name) for name in LIVES}
    _write_answers([each for answers in graded.values() for each in answers])
    return [ratio for name, answers in graded.items() for ratio in _rate(name, answers)]


def _ask_all(folder: Path, name: LifeName) -> list[GradedAnswer]:
    assistant = open_life_vault(folder, name)
    try:
        results = [(each, ask(assistant, each.question)) for each in read_questions(name)]
    finally:
        assistant.close()
    return [(each, grade(each, result), result) for each, result in results]


def _rate(name: LifeName, graded: Sequence[GradedAnswer]) -> Iterator[Ratio]:
    for each, verdict, _ in graded:
        if verdict != "right":
            print(f"  {each.id} {each.about:<14}{verdict:<8}{each.question}")
    aside = [verdict for each, verdict, _ in graded if each.kept_aside]
    every = [verdict for _, verdict, _ in graded]
    yield Ratio(f"{name}: untrue", every.count("untrue"), at_most=0)
    yield Ratio(f"{name}: right", every.count("right") / len(every), at_least=0.8)
    yield Ratio(f"{name}: kept aside, right", aside.count("right") / len(aside), at_least=0.8)


def read_questions(name: LifeName = "life") -> Iterator[LifeQuestion]:
    """Yield the questions to a vault."""
    for line in (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines():
        fields = json.loads(line)
        lists = {name: tuple(fields[name]) for name in ("right", "never")}
        yield LifeQuestion(**{**fields, **lists})


def open_life_vault(folder: Path, name: LifeName) -> Assistant:
    """Write a vault below a folder, and open and index it."""
    notes = folder / "notes"
    write_life_vault(notes, name)
    assistant = build(Paths.find({HOME_VARIABLE: str(folder / "home")}))
    assistant.open_vault(notes, remember=False)
    for _event in assistant.index(CancelToken()):
        pass
    return assistant


def ask(assistant: Assistant, question: str) -> AskResult:
    """Ask a question without a model."""
    request = Ask(question, model=EXTRACTIVE, update_index=False)
    for event in assistant.ask(request, CancelToken()):
        if isinstance(event, TurnEnded):
            return event.result
    raise RuntimeError("the turn did not end")


def grade(question: LifeQuestion, result: AskResult) -> Verdict:
    """Return the verdict on an answer."""
    told = tell_count(result.answer.text)
    if any(re.search(each, result.answer.text) for each in question.never):
        return "untrue"
    match question.asks:
        case "absent":
            return "right" if result.answer.kind in _ADMISSIONS else "missed"
        case "notes" | "count" as asks:
            verdict = grade_list(asks, question.right, result)
            return "untrue" if verdict == "false" else verdict
    if shows_all(question.right, result.answer.text):
        return "right"
    return "untrue" if told == 0 else "missed"


def _write_answers(graded: Sequence[GradedAnswer]) -> None:
    if target := os.environ.get("STRATA_BENCH_ANSWERS"):
        texts = (
            f"## {each.id} {each.about}: {verdict} ({result.answer.kind})\n\n{each.question}\n\n"
            f"right: {each.right}\nfilter: {result.applied_filter}\n\n{result.answer.text}\n"
            for each, verdict, result in graded
        )
        Path(target).write_text("\n".join(texts), "utf-8")
