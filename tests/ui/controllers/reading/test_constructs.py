"""Constructs of Obsidian are drawn, or what is not drawn is named, and not left as source."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.library.embedded_notes import EmbeddedNotes
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.vaults.documents import pdf
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from tests.unit.vault.views.conftest import NoEmbedder, update_words
from ui.controllers.reading.embeds import EmbedExpander
from ui.markdown.blocks import Paragraph, plain
from ui.markdown.embeds import EmbeddedText
from ui.tasks import TaskRunner
from vault.vault import Vault

DRAWING = """\
---
excalidraw-plugin: parsed
---
My own words.

==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==

# Excalidraw Data

## Text Elements
Hello drawing ^abc123

%%
## Drawing
```compressed-json
N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHoFAc0JRJQ
```
%%
"""
LONG = "\n\n".join(f"## Part {n}\n\n{'Words. ' * 60}" for n in range(40))
NOTES = {
    "Maths.md": "Text $$x^2$$ and $y$ in it.\n",
    "Aside.md": "Word^[said **aside** [[Maths]]] goes on, 2^[a b] and x^2 [y].\n",
    "Address.md": "See [the site][Site] and [site] and [no][nowhere].\n\n[site]: https://example.org\n",
    "Long.md": f"See [the far one][far].\n\n{LONG}\n\n[far]: https://example.org/far\n",
    "Pages.md": "![[Doc.pdf#height=400]]\n\n![[Doc.pdf#height=300&page=2]]\n",
    "Draw.excalidraw.md": DRAWING,
    "Around.md": "![[Draw.excalidraw]]\n\n![[Address]]\n",
    "Code.md": "```mermaid\ngraph TD\n```\n\n> ```dataviewjs\n> dv.list()\n> ```\n\n"
    "```query\ntag:#a\n```\n\n```js\nlet a\n```\n",
    "Breaks.md": "One<br>two<BR/>three\nnext line\n\n| a<br>b | c |\n|---|---|\n"
    "| 1<br />2 | `x<br>y` |\n| 3 | 4 |\n\nLast \\<br> one.\n",
    "Tasks.md": "- [ ] Dig\n- [x] Sow\n\n```tasks\nnot done\n```\n\n```tasks\nsort by magic\n```\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = write_notes(tmp_path / "notes", NOTES)
    (folder / "Doc.pdf").write_bytes(pdf(["One.", "Two."]))
    return folder


@pytest.fixture
def window(
    assistant: Assistant, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    assistant.open_vault(vault, remember=False)
    list(assistant.index(CancelToken()))
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 2400, qtbot)
    yield window
    window.close()


def read(window: WindowPage, name: str, words: str, qtbot: QtBot) -> str:
    """Open a note, wait until its text has some words, and return the text."""
    window.view.show_note(name)
    note = NotePage(window.view)
    qtbot.waitUntil(lambda: note.is_open and note.path == name and words in note.text)
    return note.text


def test_constructs_are_not_left_as_source(window: WindowPage, qtbot: QtBot) -> None:
    assert "$" not in read(window, "Maths.md", "in it.", qtbot)
    read(window, "Aside.md", "Word(said aside Maths) goes on, 2(a b) and x^2 [y].", qtbot)
    text = read(window, "Address.md", "See the site and site and [no][nowhere].", qtbot)
    assert "https" not in text
    read(window, "Long.md", "See the far one.", qtbot)
    assert "height" not in read(window, "Pages.md", "Doc.pdf › page 2", qtbot)


def test_the_tag_br_breaks_lines_which_keep_their_numbers(window: WindowPage, qtbot: QtBot) -> None:
    text = read(window, "Breaks.md", "Last <br> one.", qtbot).replace("\N{WORD JOINER}", "")
    assert "One\ntwo\nthree\nnext line" in text
    assert "x<br>y" in text
    assert text.count("<br>") == 2
    settle()
    (view,) = window.view.note.page.views()
    bands = [view.find_band(line, line) for line in (1, 2, 4, 6, 7, 9)]
    tops, bottoms = zip(*[band for band in bands if band is not None], strict=True)
    assert len(tops) == len(bands)
    assert all(below <= above + 1 for below, above in zip(bottoms, tops[1:], strict=False))
    assert bottoms[0] - tops[0] > 2.5 * (bottoms[1] - tops[1])


def test_a_drawing_shows_its_texts_alone(window: WindowPage, qtbot: QtBot) -> None:
    text = read(window, "Draw.excalidraw.md", "Hello drawing", qtbot)
    assert "My own words." in text
    assert not any(part in text for part in ("⚠", "Excalidraw Data", "left out", "N4KA", "%%"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Draw.excalidraw", ["My own words.", "Hello drawing"]),
        ("Address", ["See the site and site and [no][nowhere]."]),
    ],
)
def test_an_embedded_note_is_drawn_as_it_is_alone(
    assistant: Assistant, tmp_path: Path, name: str, shown: list[str]
) -> None:
    vault = Vault(write_notes(tmp_path / "notes", NOTES), tmp_path / "index", (), NoEmbedder())
    update_words(vault)
    found = EmbedExpander(EmbeddedNotes(vault, assistant.projects), assistant.images).read(name, "")
    vault.close()
    assert isinstance(found, EmbeddedText)
    texts = [plain(leaf.runs) for leaf in found.leaves if isinstance(leaf, Paragraph)]
    assert texts == shown


def test_what_is_not_drawn_is_named(window: WindowPage, qtbot: QtBot) -> None:
    text = read(window, "Code.md", "Diagrams of Mermaid are not drawn here.", qtbot)
    assert "Scripts are not run here." in text
    assert "Searches of Obsidian are not run here." in text
    assert text.count("here.") == 3


def test_a_query_of_the_tasks_plugin_is_shown_as_its_tasks(
    window: WindowPage, qtbot: QtBot
) -> None:
    text = read(window, "Tasks.md", "sort by magic is not understood.", qtbot)
    assert "Query · 1 task" in text
    assert "Source of the query" in text


def test_a_link_to_a_file_opens_a_note_and_only_reveals_what_is_none(
    window: WindowPage, vault: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "tool b.sh"
    tool.write_text("#!/bin/sh\n", "utf-8")
    note, gone = (vault / "Maths.md").as_uri(), (tmp_path / "gone.pdf").as_uri()
    text = f"[a note]({note}), [a tool]({tool.as_uri()}), [gone]({gone}), <{note}>.\n\n"
    text += "[share](file://server/x) [share](file:////server/x)\n"
    (vault / "Files.md").write_text(text, "utf-8")
    shown = f"a note, a tool, gone, {note}."
    assert shown in read(window, "Files.md", shown, qtbot)
    page = NotePage(window.view)
    assert "share share" in page.text
    revealed = list[Path]()
    monkeypatch.setattr(
        "ui.controllers.reading.open_note.reveal_file", lambda file, *_: revealed.append(file)
    )
    page.click_link("a tool")
    assert page.path == "Files.md"
    assert window.view.notifier.texts() == ["tool b.sh is not one of your notes."]
    window.press("Reveal")
    assert revealed == [tool]
    page.click_link("gone")
    assert window.view.notifier.texts()[-1].startswith(f"There is no file {tmp_path}"[:60])
    page.click_link("a note")
    qtbot.waitUntil(lambda: page.path == "Maths.md")


def test_a_link_to_a_file_that_no_file_can_be_is_said_to_be_none(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    (vault / "Names.md").write_text(f"[long](file:///{'n' * 300}/x)\n", "utf-8")
    read(window, "Names.md", "long", qtbot)
    NotePage(window.view).click_link("long")
    assert window.view.notifier.texts()[-1].startswith("There is no file /nnn")


def test_a_heading_keeps_its_brackets_in_the_title_and_the_outline(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    text = "# Plan [draft]\n\nTo [[#Costs draft (x)]].\n\n## Costs [draft] ([x](y.md))\n\nWords.\n"
    (vault / "Plan.md").write_text(text, "utf-8")
    read(window, "Plan.md", "Words.", qtbot)
    assert window.view.note.head._title.whole == "Plan [draft]"
    NotePage(window.view).click_link("Costs draft (x)")
    qtbot.waitUntil(lambda: window.view.note.find_marked_lines() == (5, 5))


def test_all_values_of_properties_begin_at_the_same_edge(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    text = "---\ntitle: Plan\ntags: [حديقة, خطة]\nauthor: ليلى\nmore: Later\n---\nWords.\n"
    (vault / "Properties.md").write_text(text, "utf-8")
    read(window, "Properties.md", "Words.", qtbot)
    settle()
    view, _ = NotePage(window.view).find_words("Plan")
    document, lefts = view.document(), list[int]()
    for words in ("Plan", "#حديقة", "ليلى", "Later"):
        block = document.find(words).block()
        cursors = [QTextCursor(block) for _ in range(block.length())]
        for number, cursor in enumerate(cursors):
            cursor.setPosition(block.position() + number)
        lefts.append(min(view.cursorRect(cursor).left() for cursor in cursors))
    assert max(lefts) - min(lefts) < 2
