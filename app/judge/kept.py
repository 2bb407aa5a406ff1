"""The stored verdicts on all questions: list and delete them, and those on hidden notes."""

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from app.errors import NotFound
from app.judge.store import JudgeBusy, JudgedQuestion, VerdictStore
from app.judge.table import say_model
from chains.judge.blocks import NAME_KEY_CHARS, hash_name, make_key, name_note
from vault.listing.hidden_notes import list_hidden_versions
from vault.listing.inventory import Inventory, list_inventory
from vault.search.query import Query
from vault.vault import Vault

__all__ = ["KeptVerdicts"]

_ALL: Final = Query("")
_MOST_NAMED: Final = 5


class KeptVerdicts:
    """The verdicts that are stored. Thread-safe.

    Each method raises `StorageFailed` if the verdicts cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        """Create the object. Nothing is read yet.

        Args:
            folder: the folder of the stored verdicts.
        """
        self.folder = folder
        self._checked: dict[Path, tuple[frozenset[str], Sequence[str]]] = {}

    def list_questions(self) -> tuple[JudgedQuestion, ...]:
        """Return the questions with stored verdicts, the newest first."""
        found = filter(None, (store.describe() for store in self._list_stores()))
        return tuple(sorted(found, key=lambda one: one.at, reverse=True))

    def find(
        self, question: str | None = None, model: str | None = None
    ) -> tuple[JudgedQuestion, ...]:
        """Return the questions with stored verdicts that are meant, the newest first.

        Args:
            question: the question as it was asked, or but for its case and blanks; or None for all.
            model: the model, with or without its provider, or None for all.

        Raises:
            NotFound: no verdicts are stored on this question, or none by this model.
        """
        stored = self.list_questions()
        found = stored if question is None else _choose_question(stored, question)
        if model is None:
            return found
        chosen = tuple(one for one in found if _is_model(one.model, model))
        if not chosen:
            by = ", ".join(sorted({one.model for one in found})) or "none"
            raise NotFound(
                f"No such verdicts by {model} are stored.", hint=f"Stored are those by: {by}."
            )
        return chosen

    def forget(
        self, question: str | None = None, model: str | None = None
    ) -> tuple[JudgedQuestion, ...]:
        """Delete the verdicts on a question, and return what was deleted.

        Args:
            question: the question, or None for all questions.
            model: the model, or None for all models.

        Raises:
            JudgeBusy: one of the questions is being judged. The others are deleted.
            NotFound: no verdicts are stored on this question, or none by this model.
        """
        is_all = question is None and model is None
        wanted = {(one.question, one.model) for one in self.find(question, model)}
        busy, forgotten = None, list[JudgedQuestion]()
        for store in self._list_stores():
            stored = store.describe()
            if not is_all and (stored is None or (stored.question, stored.model) not in wanted):
                continue
            try:
                store.delete()
            except JudgeBusy as error:
                busy = error
                continue
            if stored is not None:
                forgotten.append(stored)
        if busy is not None:
            raise busy
        return tuple(forgotten)

    def forget_hidden(self, vault: Vault) -> int:
        """Forget the verdicts on notes of a vault that are excluded or private now.

        A verdict stays if models may read another note of the same name and content. Nothing is
        read if no indexed note is gone, and no rule has changed, since the last time.
        """
        indexed = frozenset(note.path for note in vault.notes() if note.state == "indexed")
        last = self._checked.get(vault.root)
        if last is not None and last[0] <= indexed and last[1] == vault.exclude:
            return 0
        forgotten = self._forget_hidden(vault, indexed)
        self._checked[vault.root] = indexed, vault.exclude
        return forgotten

    def _forget_hidden(self, vault: Vault, indexed: Collection[str]) -> int:
        stores = [*self._list_stores()]
        names = {key[:NAME_KEY_CHARS] for store in stores for key in store.load().verdicts}
        if not names:
            return 0

        hidden = dict(
            list_hidden_versions(
                vault.root,
                vault.exclude,
                lambda: vault.filter_allowed([*indexed]),
                lambda path: hash_name(name_note(path)) in names,
            )
        )
        if not hidden:
            return 0
        gone = {make_key(name_note(path), version) for path, version in hidden.items()}
        gone -= {
            make_key(name_note(note.path), note.version)
            for note in _read_inventory(vault).allowed
            if note.path not in hidden
        }
        return sum(store.forget(lambda key, _: key.partition("-")[0] in gone) for store in stores)

    def _list_stores(self) -> Iterator[VerdictStore]:
        for path in sorted(self.folder.glob("*.jsonl")):
            yield VerdictStore(path)


def _choose_question(stored: Sequence[JudgedQuestion], question: str) -> tuple[JudgedQuestion, ...]:
    """Return what is stored on a question, or on the only one that differs in case and blanks."""
    wanted = " ".join(question.split())
    alike = {one.question for one in stored if _fold(one.question) == _fold(wanted)}
    if wanted not in alike and len(alike) != 1:
        raise NotFound(
            "No verdicts are stored on this question.", hint=_list_nearest(stored, wanted)
        )
    chosen = wanted if wanted in alike else alike.pop()
    return tuple(one for one in stored if one.question == chosen)


def _list_nearest(stored: Sequence[JudgedQuestion], wanted: str) -> str:
    """Return a hint with the stored questions, the most similar first."""
    questions = sorted(
        {one.question for one in stored},
        key=lambda one: SequenceMatcher(None, _fold(one), _fold(wanted)).ratio(),
        reverse=True,
    )
    if not questions:
        return "No verdicts are stored at all."
    named = ", ".join(f"“{one}”" for one in questions[:_MOST_NAMED])
    more = len(questions) - _MOST_NAMED
    return f"Stored are: {named}{f' and {more} more' if more > 0 else ''}."


def _fold(question: str) -> str:
    return "".join(question.casefold().split())


def _is_model(stored: str, model: str) -> bool:
    wanted = model.strip().casefold()
    return wanted in (stored.casefold(), say_model(stored).casefold())


def _read_inventory(vault: Vault) -> Inventory:
    found = vault.read_index(lambda index: list_inventory(index, vault.root, vault.scope, _ALL))
    return found or Inventory()
