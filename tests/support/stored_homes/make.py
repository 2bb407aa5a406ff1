"""Make a home of this version of Strata: index, chats, settings, memories and a journal.

`python -m tests.support.stored_homes.make FOLDER` writes the home and its notes below a folder.
"""

import sys
from pathlib import Path

from app.assistant import Assistant
from app.paths import Paths
from app.sessions.session import Session
from app.wiring import build
from chains.cancel import CancelToken
from context.log.entries import LeafEntry, MessageEntry
from context.messages import Message, Role

NOTES = {
    "Welcome.md": "---\ntags: [start]\n---\n# Welcome\n\nNotes about a garden. See [[Watering]].\n",
    "Watering.md": "# Watering\n\nThe barrel behind the shed holds 210 litres.\n",
    "garden/Tomatoes.md": "---\nsown: 2026-03-01\n---\n# Tomatoes\n\nMatina ripens in July.\n",
    "Kompost.md": "# Kompost\n\nDer Kompost braucht Luft. Alle sechs Wochen wird er umgesetzt.\n",
}


def make_home(folder: Path) -> None:
    """Write a home and its notes below a folder."""
    notes = folder / "notes"
    for name, text in NOTES.items():
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(text, "utf-8")

    assistant = build(Paths.find({"STRATA_HOME": str(folder / "home")}))
    try:
        assistant.settings.set("retrieval.topK", 9)
        assistant.settings.set("chat.titles", False)
        assistant.paths.memories.write_text("- The barrel is blue.\n", "utf-8")
        assistant.open_vault(notes)
        list(assistant.index(CancelToken()))
        _write_chats(assistant, str(notes))
        _edit(assistant)
    finally:
        assistant.close()


def _write_chats(assistant: Assistant, vault: str) -> None:
    """Write a chat with two branches and a title, a pinned one, and one in the bin."""
    chat = assistant.sessions.create(vault)
    first = _say(chat, None, "user", "How much water is in the barrel?")
    answer = _say(chat, first, "assistant", "210 litres [1].")
    _say(chat, answer, "user", "And in winter?")
    _say(chat, first, "assistant", "The barrel holds 210 litres.")
    chat.append([LeafEntry(chat.new_id(), answer, chat.now(), answer)])
    chat.close()
    assistant.branches.rename(chat.id, "Water")
    for text, act in (("When do tomatoes ripen?", "pinned"), ("Is this kept?", "bin")):
        other = assistant.sessions.create(vault)
        _say(other, None, "user", text)
        other.close()
        if act == "bin":
            assistant.sessions.delete(other.id)
        else:
            assistant.branches.mark(other.id, "pinned", True)


def _say(chat: Session, parent: str | None, role: Role, text: str) -> str:
    id = chat.new_id()
    chat.append([MessageEntry(id, parent, chat.now(), Message(role, text), "t")])
    return id


def _edit(assistant: Assistant) -> None:
    """Create a note, as an edit that can be undone."""
    assistant.user_edits.create_note("Created.md", "# Created\n\nBy an edit.\n")


if __name__ == "__main__":
    make_home(Path(sys.argv[1]).absolute())
