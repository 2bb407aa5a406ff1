"""Pictures of the index panel, of related notes and of findings in all their states.

`python -m tests.support.pictures.index_pictures FOLDER` saves them there, one for each theme and
font scale.
"""

import os
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QGridLayout, QVBoxLayout, QWidget

from app.library.review import ReviewResult
from tests.support.pictures.sample_window import save, settle
from ui.panels.index.footer import IndexFooter
from ui.panels.index.panel import IndexPanel
from ui.panels.index.state import IndexState, NotesByState
from ui.panels.notes.related import RelatedPanel
from ui.panels.notes.review import ReviewPanel
from ui.theme import Mode, Theme, tokens
from vault.coverage import Coverage
from vault.indexing.status import IndexStatus
from vault.records import NoteState
from vault.review.findings import Finding, FindingNote
from vault.review.review import ReviewProgress
from vault.search.related import RelatedNote

_SIZE = (int(tokens()["layout"]["right"]["default"]), 420)
_ACROSS = 4
_NOTES = (
    *(NoteState(f"Daily/2026-05-{n:02}.md", f"{n} May", "indexed") for n in range(1, 29)),
    *(NoteState(f"Archive/Old {n}.md", "", "excluded", "Archive/") for n in range(12)),
    NoteState("Reading/Broken.md", "", "failed", "it is not text in any known encoding"),
    NoteState("Reading/A report with quite a long name indeed.pdf", "", "failed", "locked"),
    NoteState("Inbox/Film.md", "", "failed", "it is larger than 20 MB"),
)
_GAP = Coverage(12_310, 12_310, 3_000)
_STATUS = IndexStatus(28, 12_310, 48_300_000, "all-MiniLM-L6-v2", "2026-05-14T10:00:00Z", gap=_GAP)
_READING = IndexState("running", 3_000, 12_310, 28, 0, "", "scan", 452.0, 20.0)
_AT_WORK = IndexState("running", 3_000, 12_310, 28, 0, "", "embed", 45.2, 206.0, "battery")
_STATES = {
    "at rest": IndexState("done", notes=28, failed=3),
    "at work": _AT_WORK,
    "reading": _READING,
    "paused": IndexState("paused", 3_000, 12_310, 28, phase="embed"),
    "gone": IndexState(
        "failed", message="The folder /home/me/Notes cannot be reached. Nothing was deleted."
    ),
    "busy": IndexState(
        "failed",
        message="Another Strata keeps this index up to date; close it, or only search here.",
        is_elsewhere=True,
    ),
}
_FINDINGS = (
    Finding(
        "contradiction",
        (
            FindingNote(
                *(
                    "Home server/Backups.md",
                    "Backups of the home server and of all laptops",
                    128,
                    128,
                ),
                "The notes server is backed up every night at 02:30 to the disk in the garage.",
            ),
            FindingNote(
                *("Home server/Plan.md", "Plan", 7, 7),
                "The notes server is backed up every night at 03:15 to the disk in the garage.",
            ),
        ),
        "One note says 02:30, the other 03:15.",
        "",
        2.0,
    ),
    Finding(
        "duplicate",
        (FindingNote("温室/換気.md", "温室の換気"), FindingNote("温室/換気 2.md", "温室の換気")),
        "Both notes have the same content.",
        "",
        2.0,
    ),
    Finding(
        "outdated",
        (
            FindingNote(
                *("Garden/Budget.md", "Budget", 31, 31),
                "According to The rain barrel, no water has to be bought.",
            ),
            FindingNote("Garden/Barrel.md", "The rain barrel"),
        ),
        "Its source changed on 12 May 2026, 72 days after this note was last changed.",
        "",
        72.0,
    ),
)
_RELATED = (
    RelatedNote("Home server/Backups.md", "Backups", 0.82, is_linked=True),
    RelatedNote("Home server/Router.md", "The router and its replacement in March", 0.61, False),
    RelatedNote("温室/換気.md", "温室の換気", 0.33, False),
)


def make_pictures(mode: Mode, scale: float, folder: Path) -> None:
    """Save the picture for one theme and font scale."""
    Theme.current().apply(mode, scale)
    panels = [_index(state) for state in _STATES.values()]
    panels += [_asked(), _filtered(), _related(), _waiting(), RelatedPanel(), _feet()]
    panels += [_reviewed(), _reviewed(0), _reviewing(), _stopped(), _unreviewed(), ReviewPanel()]
    row = QWidget()
    row.setProperty("surface", "content")
    layout = QGridLayout(row)
    for place, panel in enumerate(panels):
        panel.setFixedSize(*(round(side * scale) for side in _SIZE))
        layout.addWidget(panel, *divmod(place, _ACROSS))
    row.show()
    settle(400)
    save(row, folder / f"index-{mode}-{scale}.png")
    row.close()


def _index(state: IndexState) -> IndexPanel:
    panel = IndexPanel()
    panel.show_state(state)
    panel.show_status(_STATUS)
    panel.show_notes(NotesByState(_NOTES))
    return panel


def _asked() -> IndexPanel:
    panel = _index(_STATES["at rest"])
    panel.rebuild.click()
    return panel


def _filtered() -> IndexPanel:
    panel = _index(_STATES["at rest"])
    panel.lists.show_which("excluded")
    panel.lists.filter.setText("old 1")
    return panel


def _related() -> RelatedPanel:
    panel = RelatedPanel()
    panel.show_notes("Home server/Overview.md", _RELATED)
    return panel


def _waiting() -> RelatedPanel:
    panel = RelatedPanel()
    panel.begin("Home server/Overview.md")
    return panel


def _reviewed(number: int = 9) -> ReviewPanel:
    panel = ReviewPanel()
    panel.show_result(ReviewResult(_FINDINGS[:number], _FINDINGS[:2], 12_310))
    if number:
        panel.show_changed()
    return panel


def _reviewing() -> ReviewPanel:
    panel = ReviewPanel()
    panel.show_progress(ReviewProgress(3_000, 12_310))
    return panel


def _stopped() -> ReviewPanel:
    panel = ReviewPanel()
    panel.show_stopped(ReviewProgress(3_000, 12_310))
    return panel


def _unreviewed() -> ReviewPanel:
    panel = ReviewPanel()
    panel.show_error("These notes are not indexed yet, so they cannot be compared.")
    return panel


def _feet() -> QWidget:
    feet = QWidget()
    column = QVBoxLayout(feet)
    for state in _STATES.values():
        foot = IndexFooter()
        foot.show_state(state)
        column.addWidget(foot)
    return feet


def main() -> None:
    """Save all pictures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    _app = QApplication(sys.argv[:1])
    for mode in ("light", "dark"):
        for scale in (1.0, 2.0):
            make_pictures(mode, scale, Path(sys.argv[1]))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
