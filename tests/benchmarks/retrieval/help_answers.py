"""How much of what a user needs is in an answer without a model: what it shows, and what it lights.

The 100 questions of `questions/help.jsonl` were made as users ask, to the guide and to the tldr
pages. `needs` are texts that the user needs, all of them; a question without any has no answer in
the notes. They are *shown* if the quotations have them, and *lit* if the passages that are cited
for the answer have them.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chains.events import AskResult
from tests.benchmarks.measure import Ratio

__all__ = ["HelpAnswer", "HelpQuestion", "grade_help", "rate_help", "read_help"]

QUESTIONS: Final = Path(__file__).with_name("questions") / "help.jsonl"
LEAST_SHOWN: Final = 0.8
LEAST_LIT: Final = 0.6
MOST_REFUSED: Final = 0.03
LEAST_DOUBTED: Final = 0.95


@dataclass(frozen=True)
class HelpQuestion:
    """A question to the guide or to the tldr pages, and the texts that its answer needs."""

    id: str
    vault: str
    question: str
    needs: tuple[str, ...]
    kept_aside: bool


@dataclass(frozen=True)
class HelpAnswer:
    """What an answer has of what its question needs."""

    question: HelpQuestion
    is_shown: bool
    is_lit: bool
    is_refused: bool
    is_doubted: bool


def read_help(vault: str, halves: Sequence[bool]) -> list[HelpQuestion]:
    """Read the questions to a vault that are open, kept aside, or both."""
    lines = map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
    found = (HelpQuestion(**{**fields, "needs": tuple(fields["needs"])}) for fields in lines)
    return [each for each in found if each.vault == vault and each.kept_aside in halves]


def grade_help(question: HelpQuestion, result: AskResult) -> HelpAnswer:
    """Compare an answer with what its question needs."""
    quoted = "\n".join(line[1:] for line in result.answer.text.splitlines() if line.startswith(">"))
    cited = "\n".join(each.quote or "" for each in result.answer.checked.citations)
    return HelpAnswer(
        question,
        _has_all(quoted, question.needs),
        _has_all(cited, question.needs),
        is_refused=result.answer.kind in {"nothing", "small_talk"},
        is_doubted=result.answer.kind == "doubt",
    )


def rate_help(graded: Sequence[HelpAnswer]) -> Iterator[Ratio]:
    """Yield the ratios of the open questions, and of those kept aside."""
    for name, is_aside in (("open", False), ("kept aside", True)):
        chosen = [each for each in graded if each.question.kept_aside is is_aside]
        asked = [each for each in chosen if each.question.needs]
        absent = [each for each in chosen if not each.question.needs]
        if not (asked and absent):
            continue
        label, detail = f"answers: help, {name},", f"{len(asked)} questions"

        def share(holds: Callable[[HelpAnswer], bool], among: Sequence[HelpAnswer]) -> float:
            return sum(map(holds, among)) / len(among)

        shown = share(lambda each: each.is_shown, asked)
        yield Ratio(f"{label} shown", shown, at_least=LEAST_SHOWN, detail=detail)
        yield Ratio(f"{label} lit", share(lambda each: each.is_lit, asked), at_least=LEAST_LIT)
        refused = share(lambda each: each.is_refused, asked)
        yield Ratio(f"{label} refused", refused, at_most=MOST_REFUSED)
        doubted = share(lambda each: each.is_refused or each.is_doubted, absent)
        yield Ratio(f"{label} absent ones refused or doubted", doubted, at_least=LEAST_DOUBTED)


def _has_all(text: str, needs: Sequence[str]) -> bool:
    plain = _reduce(text)
    return all(_reduce(need) in plain for need in needs)


def _reduce(text: str) -> str:
    return " ".join(re.sub(r"\\(?=[^\w\s])|[`*]", "", text).split()).casefold()
