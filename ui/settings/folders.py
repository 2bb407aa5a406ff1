"""The sections for the user's own files, each in a folder: commands, prompts and hooks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.customize.commands import list_user_commands
from app.errors import describe
from app.paths import Paths
from resources.system.files import make_private_folder
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.layouts import align, grow, make_column, make_row

__all__ = ["FolderSection", "FolderWords", "make_folder_sections"]

_MOST_LISTED = 40
_OPEN_TIP = "Show it in the file manager; it is made if needed"


@dataclass(frozen=True)
class FolderWords:
    """The texts of a section: title, help, sentence for an empty folder, and of its button."""

    title: str
    help: str
    empty: str
    open: ButtonText


class FolderSection(QWidget):
    """A list of the user's own files in a folder, and a button that opens the folder.

    Args:
        folder: the folder that contains the files. If it does not exist, the button creates it.
        list_files: returns a line of text for each file in a folder.
        words: the section's texts.
    """

    def __init__(
        self,
        folder: Path,
        list_files: Callable[[Path], Sequence[str]],
        words: FolderWords,
        runner: TaskRunner,
    ) -> None:
        super().__init__()
        self._folder, self._words = folder, words
        self._list_files = list_files
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._reads.failed.connect(self._on_failed)
        self.state = make_wrapped_label("Loading…", "caption", "secondary")
        self.open = make_button(words.open, "", self._on_open)
        texts = make_column(
            label(words.title, "ui_strong"),
            make_wrapped_label(words.help, "caption", "secondary"),
            4,
            self.state,
            spacing=2,
        )
        make_row(
            grow(texts),
            align(self.open, Qt.AlignmentFlag.AlignTop),
            margins=(0, 10, 0, 10),
            parent=self,
        )

    def refresh(self) -> None:
        """Read the folder and list its files again."""
        self._reads.ask(lambda: list(self._list_files(self._folder)), now=True)

    def _on_read(self, lines: list[str]) -> None:
        shown = lines[:_MOST_LISTED]
        if len(lines) > len(shown):
            shown.append(f"And {len(lines) - len(shown):,} more.")
        self._say("\n".join(shown) or self._words.empty, "primary" if lines else "secondary")

    def _on_open(self) -> None:
        try:
            make_private_folder(self._folder)
        except OSError as error:
            self._on_failed(error)
            return
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder))):
            self._say(f"No program here shows folders. The files belong in {self._folder}.")

    def _on_failed(self, error: Exception) -> None:
        self._say(describe(error).message, "danger")

    def _say(self, text: str, tone: str = "secondary") -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)


def make_folder_sections(paths: Paths, runner: TaskRunner) -> dict[str, tuple[FolderSection, ...]]:
    """Create the sections that list the user's own commands, prompts and hooks.

    Args:
        paths: the paths of the folders.
        runner: runs the tasks that read the folders.

    Returns:
        The sections of the pages "Prompts" and "Hooks", by page name.
    """
    commands = FolderWords(
        "Your commands",
        "Markdown files, each a message that is sent by /NAME. Their text may hold {activeNote}, "
        "{selection}, {[[Note]]} and {#tag}.",
        "No command yet. A file named review.md becomes /review.",
        ButtonText("Open the folder of commands", _OPEN_TIP),
    )
    prompts = FolderWords(
        "Your prompts",
        "Markdown files that replace the text a request begins with: chat.md, vault_qa.md, "
        "project.md and agent.md.",
        "None is replaced.",
        ButtonText("Open the folder of prompts", _OPEN_TIP),
    )
    hooks = FolderWords(
        "Hook files",
        "Python files that read and change requests. They run in the order of their names, and "
        "never from a folder of notes.",
        "No hook yet.",
        ButtonText("Open the folder of hooks", _OPEN_TIP),
    )
    return {
        "Prompts": (
            FolderSection(paths.commands, _list_commands, commands, runner),
            FolderSection(paths.prompts, _list_prompts, prompts, runner),
        ),
        "Hooks": (FolderSection(paths.hooks, _list_hooks, hooks, runner),),
    }


def _list_commands(folder: Path) -> list[str]:
    return [f"/{found.name} · {found.help}" for found in list_user_commands(folder)]


def _list_prompts(folder: Path) -> list[str]:
    return _list_names(folder, "*.md")


def _list_hooks(folder: Path) -> list[str]:
    return _list_names(folder, "*.py")


def _list_names(folder: Path, pattern: str) -> list[str]:
    return sorted(file.name for file in folder.glob(pattern))
