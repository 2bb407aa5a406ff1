"""The notes that a question lists."""

from vault.vault import Vault

__all__ = ["list_note_names"]


def list_note_names(index: Vault, question: str) -> list[str] | None:
    """Return the sorted names of the notes that a question lists.

    Return None if it is not read as a list or count.
    """
    reading = index.read_question(question)
    if reading is None or reading.operation not in ("list", "count"):
        return None
    found = index.list_notes(reading.query, 100)
    return sorted(hit.path.rpartition("/")[2].removesuffix(".md") for hit in found.hits)
