"""Build questions from a vault's notes, each with the notes that answer it.

The questions are headings, link labels, aliases, and sentences with some words removed.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from vault.catalog import Catalog
from vault.notes.text.sentences import list_whole_sentences
from vault.records import Records

__all__ = ["VaultQuestion", "build_vault_questions"]

_SEED: Final = 5
_MOST_ROWS: Final = 4_000
_MOST_LINKS: Final = 4_000
_LEAST_TOKENS: Final = 40
_FEWEST_WORDS: Final = 2
_MOST_OWNERS: Final = 3
_LEFT_OUT: Final = 0.6
_WORDS: Final = re.compile(r"\w[\w'-]*")
_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 50, 200
_NOT_PROSE: Final = frozenset("|#>")  # of tables, headings and quotations


@dataclass(frozen=True, slots=True)
class VaultQuestion:
    """A question built from a vault's notes.

    Attributes:
        kind: the source of the text: "heading", "link", "alias" or "sentence".
        answers: the file ids of the expected notes.
    """

    text: str
    kind: str
    answers: frozenset[int]


def build_vault_questions(
    catalog: Catalog, attachments: str, most: int
) -> tuple[VaultQuestion, ...]:
    """Build questions from a vault's notes, about equally many of each kind.

    For the same notes, the result is always the same.

    Args:
        catalog: the catalog of the vault.
        attachments: the attachment folder that is set in Obsidian.
        most: the maximum number of questions.
    """
    chance = random.Random(_SEED)  # noqa: S311 - no secret
    ids = catalog.rows("SELECT id FROM chunks WHERE tokens >= ? ORDER BY id", (_LEAST_TOKENS,))
    chosen = [row[0] for row in chance.sample(ids, min(len(ids), _MOST_ROWS))]
    rows = catalog.rows(
        "SELECT file_id, title, aliases, heading, text FROM json_each(?) AS chosen"
        " JOIN chunks ON chunks.id = chosen.value JOIN notes USING (file_id) ORDER BY chosen.key",
        (json.dumps(chosen),),
    )
    kinds = [
        list(_ask_by_heading(rows)),
        list(_ask_by_link(catalog, attachments)),
        list(_ask_by_alias(rows)),
        list(_ask_by_sentence(rows, chance)),
    ]
    for questions in kinds:
        chance.shuffle(questions)
    taken: dict[str, VaultQuestion] = {}
    for number in range(most):
        for questions in kinds:
            if number < len(questions) and len(taken) < most:
                taken.setdefault(questions[number].text, questions[number])
    return tuple(taken.values())


def _ask_by_heading(rows: Sequence[tuple[int, str, str, str, str]]) -> Iterator[VaultQuestion]:
    """Yield each passage's innermost heading as a question, with and without the note's title.

    Args:
        rows: file id, title, aliases, headings and text of each passage.
    """
    owners: dict[str, set[int]] = defaultdict(set)
    for file_id, title, _, heading, _ in rows:
        if (own := json.loads(heading)[-1:]) and own[0] != title:
            owners[own[0]].add(file_id)
            owners[f"{title} {own[0]}"].add(file_id)
    yield from _choose_owned("heading", owners)


def _ask_by_alias(rows: Sequence[tuple[int, str, str, str, str]]) -> Iterator[VaultQuestion]:
    owners: dict[str, set[int]] = defaultdict(set)
    for file_id, _, aliases, _, _ in rows:
        for alias in json.loads(aliases):
            owners[alias].add(file_id)
    yield from _choose_owned("alias", owners)


def _ask_by_link(catalog: Catalog, attachments: str) -> Iterator[VaultQuestion]:
    """Yield the labels of links as questions about the linked notes.

    Labels that are equal to the target of their link are skipped.
    """
    rows = catalog.rows(
        "SELECT path, target, label FROM links JOIN files ON files.id = file_id"
        " WHERE is_embed = 0 AND label <> '' AND label <> target AND target <> ''"
        " ORDER BY links.rowid LIMIT ?",
        (_MOST_LINKS,),
    )
    resolver = Records(catalog).resolve_links(attachments)
    files: dict[str, int] = dict(catalog.rows("SELECT path, id FROM files WHERE state = 'indexed'"))
    owners: dict[str, set[int]] = defaultdict(set)
    for path, target, label in rows:
        found = resolver.resolve(target, path)
        if found in files and found != path:
            owners[label].add(files[found])
    yield from _choose_owned("link", owners)


def _choose_owned(kind: str, owners: dict[str, set[int]]) -> Iterator[VaultQuestion]:
    """Yield a question for each heading, alias or link text of several words that few notes have.

    Args:
        kind: the kind of the questions.
        owners: maps each text to the file ids of the notes that it belongs to.
    """
    for text, files in sorted(owners.items()):
        if len(files) <= _MOST_OWNERS and len(_WORDS.findall(text)) >= _FEWEST_WORDS:
            yield VaultQuestion(text, kind, frozenset(files))


def _ask_by_sentence(
    rows: Sequence[tuple[int, str, str, str, str]], chance: random.Random
) -> Iterator[VaultQuestion]:
    """Yield sentences of notes as questions.

    More than half of the words are left out, because users rarely remember all words.

    Args:
        rows: file id, title, aliases, headings and text of each passage.
        chance: the source of random numbers.
    """
    for file_id, _, _, _, text in rows:
        found = list_whole_sentences(text, _SHORTEST_SENTENCE, _LONGEST_SENTENCE)
        if sentences := [each for each in found if _NOT_PROSE.isdisjoint(each)]:
            words = _WORDS.findall(chance.choice(sentences))
            kept = [word for word in words if chance.random() >= _LEFT_OUT]
            if len(kept) > _FEWEST_WORDS:
                yield VaultQuestion(" ".join(kept), "sentence", frozenset({file_id}))
