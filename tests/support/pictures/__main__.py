"""Pictures of the window, to be made again whenever it has changed.

`python -m tests.support.pictures` makes the README's picture. `python -m tests.support.pictures
FOLDER [SIZE…]` saves a picture of every state there, in the given sizes or in all: light and dark,
narrow and wide, in Latin, Japanese and Arabic script.

The pictures show the real program with the sample notes; only the model is scripted.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication, QTreeView

from app.config.settings import SECTIONS
from resources import resource_path
from tests.support.pictures.dialog_pictures import make_dialogs
from tests.support.pictures.panel_pictures import make_panels
from tests.support.pictures.picture_states import make_more_states
from tests.support.pictures.sample_window import (
    BACKUPS,
    COFFEE,
    INDEX,
    POWER,
    RESTORE,
    SIZES,
    Stage,
    save,
    settle,
    stage,
)
from tests.support.window.window_pages import find
from ui.icons import app_icon
from ui.settings.dialog import SettingsDialog
from ui.settings.project import ProjectDialog
from ui.theme import Mode, Theme

README_PICTURE = "Attachments/window.png"


def make_readme_picture(on: Stage) -> None:
    """Save the picture for the README."""
    on.show("light", "usual")
    on.play(POWER)
    on.go_on(BACKUPS)
    open_layer(on, 4)
    save(on.window, resource_path("vault") / README_PICTURE)


def make_all(on: Stage, folder: Path, sizes: Sequence[str]) -> None:
    """Save a picture of every state in the given sizes, or in all sizes if none is given."""
    on.play(BACKUPS)
    for mode in ("light", "dark"):
        for size in sizes or SIZES:
            make_states(on, mode, size, folder)  # type: ignore[arg-type]
        make_settings(on, mode, folder)  # type: ignore[arg-type]
        make_panels(mode, folder)  # type: ignore[arg-type]
        make_dialogs(on, mode, folder)  # type: ignore[arg-type]


def make_states(on: Stage, mode: Mode, size: str, folder: Path) -> None:
    """Save pictures of the chat's states in one theme and one size."""
    on.show(mode, size)
    on.window.open_session(None)
    settle()
    save(on.window, folder / f"empty-{size}-{mode}.png")
    on.play_half(RESTORE)
    save(on.window, folder / f"answering-{size}-{mode}.png")
    on.stop()
    for name, question in (("japanese", INDEX), ("arabic", COFFEE), ("long", BACKUPS)):
        on.open(question)
        save(on.window, folder / f"{name}-{size}-{mode}.png")
    on.window.controllers.context.show_last_request()
    open_layer(on, 4)
    save(on.window, folder / f"panel-{size}-{mode}.png")
    row = on.window.column.sources.rows()[0]
    on.window.show_note(row.path, *(row.lines or (0, 0)))
    settle(500)
    save(on.window, folder / f"note-{size}-{mode}.png")
    on.window.controllers.reading.close()
    on.window.columns.close_drawer()
    make_more_states(on, f"{size}-{mode}", folder)


def make_settings(on: Stage, mode: Mode, folder: Path) -> None:
    """Save a picture of each page of the settings."""
    for page in SECTIONS:
        on.window.open_settings(page)
        settle(500)
        dialog = find(on.window, SettingsDialog)
        assert dialog is not None
        save(dialog, folder / f"settings-{page.split()[0].lower()}-{mode}.png")
        dialog.close()
    project = ProjectDialog(on.assistant.projects, "Guide", on.window.runner, on.window)
    project.show()
    settle(500)
    save(project, folder / f"settings-project-{mode}.png")
    project.close()


def open_layer(on: Stage, place: int) -> None:
    """Expand a layer's row in the context panel."""
    tree = on.window.column.context.findChild(QTreeView)
    tree.expand(tree.model().index(place, 0))
    settle()


def main() -> None:
    """Save the README's picture, or all pictures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication(sys.argv[:1])
    app.setWindowIcon(app_icon())
    Theme.current().apply("light")
    with stage() as on:
        if len(sys.argv) > 1:
            make_all(on, Path(sys.argv[1]), sys.argv[2:])
        else:
            make_readme_picture(on)


if __name__ == "__main__":
    main()
