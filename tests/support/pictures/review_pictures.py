"""States for pictures: the review of the notes, from the first look to a fix that is taken back."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication

from tests.support.pictures.gallery import Shot
from tests.support.pictures.sample_window import Stage, settle, wait_until
from tests.support.window.clicks import click_button
from ui.chat.message.approval_card import ApprovalCard
from vault.review.review import ReviewProgress

_FOLDER = "Looked after"
_BARREL = "# {}\n\nWater is dear in August.\n\nThe rain barrel holds {} litres.\n\n{}\n"
_LONG = "Minutes of the meeting about the allotments beside the old railway line, second part"
_NOTES = {
    "Barrel.md": _BARREL.format("Barrel", 210, "It stands behind the shed."),
    "Garden.md": _BARREL.format("Garden", 200, "It stands behind the shed, on four stones."),
    "List.md": "# List\n\nSee [[Barel]] first, then ![[Plan of the beds.png]].\n",
    f"{_LONG}.md": f"# {_LONG}\n\nSee [[{_LONG} and third]].\n\n- [ ] Pay 📅 2024-03-01\n",
    "水やり.md": "# 水やり\n\n霜よけは 4 °C で閉まります。[[無い]]。\n\n- [ ] 洗う 📅 2025-01-10\n",
    "霜.md": "# 霜\n\n霜よけは 7 °C で閉まります。\n",
    "البستان.md": "# البستان\n\nانظر [[مذكرة]] أولا.\n\n- [ ] نظف البرميل 📅 2025-02-01\n",
    "Copies/Plan.md": "# Plan\n\nSow in rows of four, water each evening, and weed on Sundays.\n",
    "Copies/Plan (conflicted copy 2026-05-01).md": (
        "# Plan\n\nSow in rows of five, water each evening, and weed on Sundays.\n"
    ),
    "Front.md": "---\ntags: [a\n---\n# Front\n\nText.\n",
}


def show_review(on: Stage) -> Iterator[Shot]:
    """Show the panel before, during and after a review, and what its cards open."""
    panel, folder = on.window.column.review, Path(str(on.assistant.vault)) / _FOLDER
    show = partial(_open_panel, on)
    on.window.run_command("look_after")
    wait_until(lambda: not on.window.controllers.review.is_running)
    panel.show_waiting()
    yield Shot("review-waiting", show)
    panel.show_progress(ReviewProgress(412, 1_290))
    settle()
    yield Shot("review-busy", show)
    _write_notes(on, folder)
    _look(on)
    yield Shot("review-found", show)
    yield from _show_fixes(on, show)
    _list_many(on, folder)
    yield Shot("review-long", show)
    panel.kinds.set_value("git_conflict")
    panel.filter_changed.emit()
    wait_until(lambda: not on.window.controllers.review.is_running)
    settle()
    yield Shot("review-nothing", show)
    panel.kinds.set_value("")
    panel.show_error("The index is damaged and is being rebuilt.", "Look again when it is done.")
    yield Shot("review-failed", show)
    shutil.rmtree(folder)
    _index(on)
    on.window.run_command("look_after")


def _show_fixes(on: Stage, show: Callable[[], object]) -> Iterator[Shot]:
    panel = on.window.column.review
    card = next(one for one in panel.list_cards() if one.finding.kind == "contradiction")
    card.compare.click()
    wait_until(lambda: QApplication.activeModalWidget() is not None)
    yield Shot("review-compare", show)
    QApplication.activeModalWidget().close()
    settle()
    card = next(one for one in panel.list_cards() if one.finding.kind == "broken_link")
    card.fix.click()
    wait_until(lambda: bool(card.findChildren(ApprovalCard)))
    settle(700)
    yield Shot("review-fix", show)
    card.findChildren(ApprovalCard)[0].decide("once")
    wait_until(lambda: any("changed" in text for text in on.window.notifier.texts()))
    settle()
    yield Shot("review-fixed", show)
    click_button(on.window, "Undo")
    wait_until(lambda: any("Undone" in text for text in on.window.notifier.texts()))
    settle()
    yield Shot("review-taken-back", show)


def _open_panel(on: Stage) -> None:
    """Open the panel if it is hidden, as in a narrow window."""
    if not on.window.column.review.isVisible() and QApplication.activeModalWidget() is None:
        on.window.run_command("look_after")


def _write_notes(on: Stage, folder: Path) -> None:
    for name, text in _NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    _index(on)


def _list_many(on: Stage, folder: Path) -> None:
    links = "\n".join(f"- see [[Nowhere {number}]]" for number in range(60))
    (folder / "Many.md").write_text(f"# Many\n\n{links}\n", "utf-8")
    _index(on)
    _look(on)


def _index(on: Stage) -> None:
    on.window.controllers.index.start()
    wait_until(lambda: not on.window.controllers.index.is_running)
    settle()


def _look(on: Stage) -> None:
    on.window.controllers.review.start()
    wait_until(lambda: not on.window.controllers.review.is_running)
    settle()
