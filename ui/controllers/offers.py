"""The notes, folders and tags that the composer and the palette offer."""

from collections.abc import Mapping, Sequence

from ui.chat.composer.completion import Offers
from ui.widgets.choices import Choice
from ui.widgets.figures import plural
from vault.index import NoteState

__all__ = ["offers_of"]


def offers_of(notes: Sequence[NoteState], tags: Mapping[str, Sequence[str]]) -> Offers:
    """Return what can be attached; what is kept from models is not offered.

    Args:
        notes: what is known of the files in the folder.
        tags: each tag with the notes that carry it.
    """
    known = [note for note in notes if note.state == "indexed"]
    folders: dict[str, int] = {}
    for note in known:
        for folder in _above(note.path):
            folders[folder] = folders.get(folder, 0) + 1
    return Offers(
        notes=[_note(note) for note in known],
        folders=[_folder(path, folders[path]) for path in sorted(folders, key=str.casefold)],
        tags=[
            Choice(f"#{tag}", tag, "hash", beside=plural(len(tags[tag]), "note"))
            for tag in sorted(tags, key=str.casefold)
        ],
    )


def _note(note: NoteState) -> Choice:
    folder, _, name = note.path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    other = note.title if note.title and note.title != stem else ""
    detail = " · ".join(part for part in (other, folder) if part)
    return Choice(note.path, stem, "file-text", detail, "note")


def _folder(path: str, notes: int) -> Choice:
    above, _, name = path.rpartition("/")
    return Choice(f"{path}/", name, "folder", above, plural(notes, "note"))


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
