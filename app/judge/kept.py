"""The stored verdicts on all questions: list and delete them, and those on hidden notes."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from app.judge.store import JudgeBusy, JudgedQuestion, VerdictStore
from chains.judge.blocks import NAME_KEY_CHARS, hash_name, make_key, name_note
from vault.listing.hidden_notes import list_hidden_versions
from vault.listing.inventory import Inventory, list_inventory
from vault.search.query import Query
from vault.vault import Vault

__all__ = ["KeptVerdicts"]

_ALL: Final = Query("")


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

    def forget(self, question: str | None = None) -> int:
        """Delete the verdicts on a question, by whichever model, and return how many.

        Args:
            question: the question, or None for all questions.

        Raises:
            JudgeBusy: one of the questions is being judged. The others are deleted.
        """
        wanted = None if question is None else " ".join(question.split())
        busy, forgotten = None, 0
        for store in self._list_stores():
            stored = store.describe()
            if wanted is not None and (stored is None or stored.question != wanted):
                continue
            try:
                store.delete()
            except JudgeBusy as error:
                busy = error
                continue
            forgotten += 0 if stored is None else stored.verdicts
        if busy is not None:
            raise busy
        return forgotten

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


def _read_inventory(vault: Vault) -> Inventory:
    found = vault.read_index(lambda index: list_inventory(index, vault.root, vault.scope, _ALL))
    return found or Inventory()
