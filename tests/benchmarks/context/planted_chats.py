"""Long chats over real notes with planted facts, and a summary that is written by rule.

Every fact is planted once, in a sentence of its own between sentences of notes: in a question, in
an answer or, in the chats of an agent, in the result of a tool.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Final

from chains.citations.sentences import split_sentences
from context.assemble.inputs import SummaryTask
from context.exam import FactKind
from context.messages import Message, ToolCallPart, ToolResultPart
from tests.benchmarks.context.long_chats import QuickCounter, Turn
from vault.notes.text.markdown_text import read_text

SEED: Final = 33
FACTS: Final = 100
_SHORTEST, _LONGEST = 30, 200
_NAMES: Final = "Quillon Brexby Tarvany Ostrelle Dunmarrow Vashti Kelbrook Zorinda Pfister Umberto"
_THINGS: Final = "shed pump boiler fence orchard cellar ladder kiln canoe cistern loom anvil"
_COLOURS: Final = "ochre teal maroon indigo russet cobalt amber sepia"
_FIGURE: Final = re.compile(r"(?<![\w./-])\d{3}(?=\.\d\d kWh)")
_LEAST_ANSWER_TOKENS: Final = 24
_CHANGED_EVERY: Final = 8


@dataclass(frozen=True)
class PlantedFact:
    """A fact of a chat.

    Attributes:
        sentence: the sentence that says it.
        needle: the part of the sentence that must still be there, word for word.
    """

    kind: FactKind
    sentence: str
    needle: str


def read_sentences(folder: Path) -> tuple[str, ...]:
    """Return the sentences of the notes in a folder, in order."""
    found: dict[str, None] = {}
    for file in sorted(folder.rglob("*.md")):
        for sentence in split_sentences(read_text(file.read_text("utf-8", "replace"))):
            if _SHORTEST <= len(sentence) <= _LONGEST and "|" not in sentence:
                found[sentence] = None
    return tuple(found)


def plant_facts(rng: Random, count: int = FACTS) -> list[PlantedFact]:
    """Return facts of all kinds, each of which is said nowhere else."""
    makers = (_path, _command, _figure, _day, _name, _decision, _question)
    return [makers[at % len(makers)](rng, at) for at in range(count)]


def _thing(rng: Random) -> str:
    return rng.choice(_THINGS.split())


def _path(rng: Random, at: int) -> PlantedFact:
    path = f"Projects/{_thing(rng)}/plan-{at}-{rng.randrange(100, 999)}.md"
    return PlantedFact("path", f"The drawing is kept in {path} for now.", path)


def _command(rng: Random, at: int) -> PlantedFact:
    command = f"rsync -a {_thing(rng)}/ backup/{at}{rng.randrange(100, 999)}"
    return PlantedFact("command", f"It is copied with `{command}` each night.", command)


def _figure(rng: Random, at: int) -> PlantedFact:
    figure = f"{rng.randrange(101, 999)}.{at % 10}{rng.randrange(1, 9)} kWh"
    return PlantedFact("figure", f"The {_thing(rng)} has used {figure} so far.", figure)


def _day(rng: Random, at: int) -> PlantedFact:
    day = date(2031, 1, 1) + timedelta(days=31 * at + rng.randrange(28))
    text = f"{day.day} {day:%B} {day.year}"
    return PlantedFact("date", f"The {_thing(rng)} is inspected on {text} at the latest.", text)


def _name(rng: Random, at: int) -> PlantedFact:
    names = _NAMES.split()
    middle = "".join(rng.choice("aeiourstlmn") for _ in range(5)).capitalize()
    name = f"{names[at % len(names)]} {middle}"
    return PlantedFact("name", f"Somebody should ask {name} about the {_thing(rng)}.", name)


def _decision(rng: Random, at: int) -> PlantedFact:
    needle = f"paint the {_thing(rng)} {rng.choice(_COLOURS.split())} in week {at} of the works"
    return PlantedFact("decision", f"We decided to {needle}.", needle)


def _question(rng: Random, at: int) -> PlantedFact:
    needle = f"who pays for the {_thing(rng)} of lot {at}{rng.randrange(10, 99)}"
    return PlantedFact("question", f"It is still open {needle}.", needle)


def list_turns(
    sentences: Sequence[str],
    facts: Sequence[PlantedFact],
    rng: Random,
    *,
    fact_tokens: int,
    is_agent: bool,
) -> Iterator[Turn]:
    """Yield turns with three facts each, and then turns without any.

    Args:
        sentences: the sentences of notes that surround the facts.
        facts: the facts, in the order in which they are said.
        rng: chooses the sentences.
        fact_tokens: how many tokens there are for each fact.
        is_agent: whether one of the three facts is in the result of a tool.
    """
    left = list(facts)
    for number in range(10_000):
        asked, answer, result = (left.pop(0).sentence if left else "" for _ in range(3))
        steps: tuple[tuple[Message, ...], ...] = ()
        size = max(_LEAST_ANSWER_TOKENS, fact_tokens)
        if is_agent:
            found = _fill(sentences, rng, result, size)
            call = Message("assistant", (ToolCallPart(f"c{number}", "look_up", {"q": "it"}),))
            steps = ((call, Message("tool", (ToolResultPart(f"c{number}", found),))),)
        else:
            answer = f"{answer} {result}"
        question = _fill(sentences, rng, asked, size // 2)
        yield Turn(question, _fill(sentences, rng, answer, size), steps)


def _fill(sentences: Sequence[str], rng: Random, fact: str, tokens: int) -> str:
    """Return a text of so many tokens that says a fact between sentences of notes."""
    counter, parts = QuickCounter(), [fact]
    while counter.count(" ".join(parts)) < tokens:
        parts.insert(rng.randrange(len(parts) + 1), rng.choice(sentences))
    return " ".join(filter(None, parts))


class ScriptedSummary:
    """Writes summaries as a careless model does: it drops sentences and changes figures.

    Asked once more, it says what was named first, and changes fewer figures.

    Attributes:
        calls: how many summaries were written.
    """

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self.calls = 0

    def __call__(self, task: SummaryTask) -> str:
        """Return sentences of the turns, chosen at random, within the limit of the task."""
        self.calls += 1
        texts = [message.text for turn in task.full_turns for message in turn.messages]
        sentences = [one for text in texts for one in split_sentences(read_text(text))]
        self._rng.shuffle(sentences)
        named = task.refusal.partition("It lacks: ")[2].rstrip(".").split("; ")
        counter, kept, left = QuickCounter(), list[str](), int(task.most_tokens * 0.9)
        for sentence in (*filter(None, named if task.refusal else ()), *sentences):
            left -= counter.count(f"- {sentence}\n")
            if left < 0:
                break
            kept.append(f"- {sentence}")
        every = _CHANGED_EVERY * (3 if task.refusal else 1)
        return "\n".join(
            _FIGURE.sub(self._change, line) if at % every == 0 else line
            for at, line in enumerate(kept)
        )

    def _change(self, match: re.Match[str]) -> str:
        return str(int(match[0]) + self._rng.randrange(1, 90))
