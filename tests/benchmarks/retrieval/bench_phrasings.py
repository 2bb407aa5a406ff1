"""How truly lists, counts and properties are told: 160 phrasings in four languages.

`questions/phrasings.jsonl` asks a vault of 38 notes, `questions/phrasings-notes.json`, in English,
German, French and Spanish, for notes, tasks and values, by tag, folder, link, date, task and
property. The questions were written down before the code was looked at; every third one is
`kept_aside`. An answer is

- right if it lists exactly the expected notes, tells the expected count, or shows the expected
  words,
- false if it says *none*, or tells a count of notes or tasks, that is untrue,
- missed in all other cases.

`STRATA_BENCH_ANSWERS` is a file that the answers are written to.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from app.assistant import Assistant
from app.paths import HOME_VARIABLE, Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import AskResult, TurnEnded
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from tests.benchmarks.measure import Ratio

QUESTIONS: Final = Path(__file__).with_name("questions")
_COUNT: Final = re.compile(r"^(?P<count>[\d,]+|No) (?:open |done )?(?:notes?|tasks?)\b")

Verdict = Literal["right", "false", "missed"]


@dataclass(frozen=True)
class Phrasing:
    """A question to the made vault, and what is right."""

    id: str
    language: str
    about: str
    question: str
    asks: Literal["notes", "count", "value"]
    right: tuple[str, ...]
    kept_aside: bool


def run(folder: Path) -> list[Ratio]:
    """Ask all phrasings, and print the verdicts by language."""
    assistant = open_made_vault(folder)
    try:
        graded = [(each, *_ask_graded(assistant, each)) for each in read_phrasings()]
    finally:
        assistant.close()
    _write_answers(graded)
    verdicts = [(each, verdict) for each, verdict, _ in graded]
    for name in ("en", "de", "fr", "es"):
        _print_row(name, [found for each, found in verdicts if each.language == name])
    aside = [found for each, found in verdicts if each.kept_aside]
    every = [found for _, found in verdicts]
    _print_row("kept aside", aside)
    return [
        Ratio("phrasings: false none, all or count", every.count("false"), at_most=0),
        Ratio("phrasings: right", every.count("right") / len(every), at_least=0.9),
        Ratio("phrasings: kept aside, right", aside.count("right") / len(aside), at_least=0.9),
    ]


def read_phrasings() -> Iterator[Phrasing]:
    """Yield the phrasings."""
    for line in (QUESTIONS / "phrasings.jsonl").read_text("utf-8").splitlines():
        fields = json.loads(line)
        yield Phrasing(**{**fields, "right": tuple(fields["right"])})


def open_made_vault(folder: Path) -> Assistant:
    """Write the made vault below a folder, and open and index it."""
    notes = folder / "notes"
    for path, text in json.loads((QUESTIONS / "phrasings-notes.json").read_text("utf-8")).items():
        (notes / path).parent.mkdir(parents=True, exist_ok=True)
        (notes / path).write_text(text, "utf-8")
    assistant = build(Paths.find({HOME_VARIABLE: str(folder / "home")}))
    assistant.open_vault(notes, remember=False)
    for _event in assistant.index(CancelToken()):
        pass
    return assistant


def _ask_graded(assistant: Assistant, phrasing: Phrasing) -> tuple[Verdict, str]:
    request = Ask(phrasing.question, model=EXTRACTIVE, update_index=False)
    for event in assistant.ask(request, CancelToken()):
        if isinstance(event, TurnEnded):
            return grade(phrasing, event.result), event.result.answer.text
    raise RuntimeError("the turn did not end")


def grade(phrasing: Phrasing, result: AskResult) -> Verdict:
    """Return the verdict on an answer."""
    if phrasing.asks != "value":
        return grade_list(phrasing.asks, phrasing.right, result)
    if shows_all([re.escape(each) for each in phrasing.right], result.answer.text):
        return "right"
    return "false" if tell_count(result.answer.text) == 0 else "missed"


def grade_list(asks: Literal["notes", "count"], right: Sequence[str], result: AskResult) -> Verdict:
    """Return the verdict on a list of notes, or on a count."""
    told = tell_count(result.answer.text)
    if told is None:
        return "missed"
    if told != (int(right[0]) if asks == "count" else len(right)):
        return "false"
    listed = {PurePosixPath(citation.path).stem for citation in result.answer.checked.citations}
    return "right" if asks == "count" or listed == set(right) else "missed"


def tell_count(answer: str) -> int | None:
    """Return the count that an answer begins with, if it does."""
    found = _COUNT.match(answer)
    if found is None:
        return None
    return 0 if found["count"] == "No" else int(found["count"].replace(",", ""))


def shows_all(patterns: Sequence[str], answer: str) -> bool:
    """Tell whether an answer, without its mark-up, matches all patterns."""
    shown = " ".join(re.sub(r"[\\`*]", "", answer).split())
    return all(re.search(each, shown) for each in patterns)


def _print_row(name: str, verdicts: Sequence[Verdict]) -> None:
    counts = Counter(verdicts)
    print(
        f"  {name:<12}"
        + "".join(f"{counts[each]:>8} {each}" for each in ("right", "missed", "false"))
    )


def _write_answers(graded: Sequence[tuple[Phrasing, Verdict, str]]) -> None:
    if target := os.environ.get("STRATA_BENCH_ANSWERS"):
        texts = (
            f"## {each.id} {each.about}: {verdict}\n\n{each.question}\n\n{each.right}\n\n{answer}\n"
            for each, verdict, answer in graded
        )
        Path(target).write_text("\n".join(texts), "utf-8")
