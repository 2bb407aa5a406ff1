"""Load the images, embedded notes and formulas that notes and answers show, and opened images."""

from base64 import b64decode
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QImage
from shiboken6 import isValid

from app.assistant import Assistant
from app.errors import AppError, NotFound, describe
from app.library.embedded_notes import EmbeddedNotes
from app.library.formula_drawer import FormulaDrawer, UndrawnFormula
from app.library.images import VaultImages
from app.sessions.session_info import one_line
from chains.cancel import CancelToken
from ui.chat.transcript.widgets import MessageMaker
from ui.controllers.reading.embeds import EmbedExpander
from ui.controllers.reading.views import MOST_VIEW_ROWS
from ui.markdown.embeds import (
    INLINE,
    VIEW_ICON,
    EmbedFailure,
    find_pdf_page,
    read_embed_source,
    split_view_target,
)
from ui.markdown.inline import MORE
from ui.markdown.page.formula_store import (
    Formula,
    FormulaKey,
    FormulaStore,
    UndrawableFormula,
    make_retry,
)
from ui.markdown.page.images import Embedded, ImageFailure, Picture
from ui.markdown.page.view import MarkdownView
from ui.panels.notes.image import OpenImage
from ui.panels.notes.note_panel import NotePanel
from ui.panels.notes.reader import NoteReader
from ui.tasks import Task, TaskRunner
from vault.errors import NoteExcluded, VaultError

__all__ = ["EmbedController", "FormulaController", "open_image", "read_embedded"]

# In pixels: the text column and the tallest image in it, on a screen with a pixel ratio of 2.
_LARGEST = QSize(1_520, 1_440)
_PAGE_RATIO = 2.0
_NAME_CHARS = 120
_MOST_FORMULAS_AT_ONCE = 16
_INLINE_AT_ONCE = 20


@dataclass(frozen=True)
class _Wanted:
    """An image or embedded note that a view has to show.

    Attributes:
        view: the page of the note panel, or the text of an answer.
        source: the source, as in the view's signal `embed_wanted`.
        origin: the path of the note, or for an answer as for a link in an answer.
        rows: the most rows of a base or query.
    """

    view: NoteReader | MarkdownView
    source: str
    origin: str
    rows: int


class EmbedController(QObject):
    """Loads the images and embedded notes that notes and answers show, one after another.

    Nothing is fetched from the network: only files inside the vault or a project are read. Images
    are decoded in a child process with limited memory.

    Args:
        assistant: reads the images and notes.
        runner: runs the loading in the background.
        panel: the panel of the open note.
        maker: builds the answers.
        find_origin: returns the path from which links of the shown chat lead.
    """

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        panel: NotePanel,
        maker: MessageMaker,
        find_origin: Callable[[], str],
    ) -> None:
        super().__init__(panel)
        self._assistant, self._runner, self._panel = assistant, runner, panel
        self._waiting: list[_Wanted] = []
        self._loading: list[_Wanted] = []
        self._task: Task | None = None
        self._find_origin = find_origin
        self._rows: dict[tuple[str, str], int] = {}  # where more rows are shown than at first
        panel.page.embed_wanted.connect(self._on_wanted)
        maker.embed_wanted.connect(self._on_answer_wanted)

    def _on_wanted(self, source: str) -> None:
        self._add(self._panel.page, source, self._panel.path)

    def _on_answer_wanted(self, view: MarkdownView, source: str) -> None:
        self._add(view, source, self._find_origin())

    def _add(self, view: NoteReader | MarkdownView, wanted: str, origin: str) -> None:
        source = wanted.removeprefix(MORE)
        rows = self._rows.get((source, origin), MOST_VIEW_ROWS)
        if wanted.startswith(MORE):
            rows = self._rows[source, origin] = 2 * rows
        # Notes may change faster than queries are computed, so nothing waits twice.
        others = (one for one in self._waiting if one.view is not view or one.source != source)
        self._waiting = [*others, _Wanted(view, source, origin, rows)]
        self._stop_hidden()
        self._start()

    def _stop_hidden(self) -> None:
        """Load nothing more for views that are gone, as after another note or chat was opened."""
        if self._task is not None and not all(map(self._is_shown, self._loading)):
            self._task.cancel()
            self._waiting += [one for one in self._loading if self._is_shown(one)]
            self._loading = []

    def _is_shown(self, wanted: _Wanted) -> bool:
        """Return whether a view still exists and shows the note that wants something."""
        if not isValid(wanted.view):
            return False
        return wanted.view is not self._panel.page or wanted.origin == self._panel.path

    def _start(self) -> None:
        if self._task is not None:
            return
        self._loading, self._waiting = list(filter(self._is_shown, self._waiting)), []
        if not (wanted := tuple(self._loading)):
            return
        self._task = self._runner.stream(lambda token: _load(self._assistant, wanted, token))
        self._task.yielded.connect(self._on_loaded)
        self._task.failed.connect(self._on_failed)
        self._task.finished.connect(self._on_finished)
        self._task.start()

    def _on_loaded(self, content: Embedded) -> None:
        if self._loading:
            wanted = self._loading.pop(0)
            if self._is_shown(wanted):
                wanted.view.show_embed(wanted.source, content)
            self._stop_hidden()

    def _on_failed(self, error: Exception) -> None:
        """Show the error in place of what was being loaded, and load the rest anew."""
        if self._loading:
            self._on_loaded(_make_failure(self._loading[0].source, error))
            self._waiting = self._loading + self._waiting

    def _on_finished(self) -> None:
        self._task, self._loading = None, []
        self._start()


def open_image(images: VaultImages, path: str) -> OpenImage:
    """Read an image of the vault. A child process decodes it.

    Raises:
        AppError: the image cannot be shown. The message gives the reason.
        VaultError: models are not allowed to read the file, or its path leads out of the vault.
    """
    read = images.read(path)
    image = QImage.fromData(QByteArray(b64decode(read.image.data)))
    return OpenImage(path, read.version, image, read.own_size)


def read_embedded(images: VaultImages, source: str, note: str) -> Picture:
    """Read an image that a note shows, scaled down if it is larger than the note can show.

    Args:
        images: the images of the vault.
        source: the path or name of the image as written in the note, or of a PDF file with `#page=`
            and the number of the page.
        note: the path of the note.

    Returns:
        The image, or the reason why it cannot be shown.
    """
    name, _, place = source.partition("#")
    page = find_pdf_page(name, place)
    try:
        path = _find_image(images, source if page is None else name, note)
    except NotFound as error:
        shown = one_line(name, _NAME_CHARS)
        message = describe(error).message if page is None else f"There is no file named {shown}."
        return ImageFailure(message, is_found=False)
    try:
        image = _open_page(images, path, page) if page is not None else _open(images, path)
    except NoteExcluded as error:
        message = f"{Path(path).name} is not shown: it is excluded by the rule {error.rule}."
        return ImageFailure(message, is_found=True)
    except (AppError, VaultError) as error:
        return ImageFailure(describe(error).message, is_found=True)
    if image.width() <= _LARGEST.width() and image.height() <= _LARGEST.height():
        return image
    ratio, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    return image.scaled(_LARGEST, ratio, smooth)


def _find_image(images: VaultImages, name: str, origin: str) -> str:
    """Return the path of an image. An answer's image is one of its project or else of the vault."""
    try:
        return images.find(name, origin)
    except NotFound:
        if not Path(origin).is_dir():
            raise
        return images.find(name, "")


def _open(images: VaultImages, path: str) -> QImage:
    return open_image(images, path).image


def _open_page(images: VaultImages, path: str, page: int) -> QImage:
    """Draw a page of a PDF file, at the size that it has on paper at 96 pixels per inch or less."""
    data = b64decode(images.read_page(path, page).image.data)
    image = QImage.fromData(QByteArray(data))
    image.setDevicePixelRatio(_PAGE_RATIO)
    return image


def _load(
    assistant: Assistant, wanted: Sequence[_Wanted], token: CancelToken
) -> Iterator[Embedded]:
    """Yield each image or embedded note, or the reason why it cannot be shown.

    Args:
        assistant: reads the images and notes.
        wanted: what is loaded.
        token: cancels the loading.
    """
    notes: EmbeddedNotes | None = None
    for one in wanted:
        token.raise_if_cancelled()
        try:
            if target := read_embed_source(one.source):
                notes = notes or _open_notes(assistant, wanted, token)
                yield EmbedExpander(notes, assistant.images, one.rows).read(target, one.origin)
            else:
                yield read_embedded(assistant.images, one.source, one.origin)
        except (AppError, VaultError, OSError) as error:
            yield _make_failure(one.source, error)


def _open_notes(
    assistant: Assistant, wanted: Sequence[_Wanted], token: CancelToken
) -> EmbeddedNotes:
    """Open the notes, with the inline queries among what is loaded computed, many at a time."""
    notes, texts = assistant.open_embeds(), defaultdict[str, list[str]](list)
    for one in wanted:
        view = split_view_target(read_embed_source(one.source))
        if view is not None and view[0] == INLINE:
            texts[one.origin].append(view[1])
    for origin, all_ in texts.items():
        for at in range(0, len(all_), _INLINE_AT_ONCE):
            token.raise_if_cancelled()
            notes.prepare_inline(all_[at : at + _INLINE_AT_ONCE], origin)
    return notes


def _make_failure(source: str, error: Exception) -> Embedded:
    """Return what is shown in place of an image or embedded note that cannot be loaded."""
    message = describe(error).message
    if target := read_embed_source(source):
        return EmbedFailure(message, "file-x" if split_view_target(target) is None else VIEW_ICON)
    return ImageFailure(message, is_found=False)


class FormulaController(QObject):
    """Draws formulas in the background, some at a time, in the order in which they were shown.

    Args:
        drawer: draws a formula in a child process.
        runner: runs the drawing.
        parent: the Qt parent.
    """

    def __init__(self, drawer: FormulaDrawer, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._drawer, self._runner = drawer, runner
        self._store = FormulaStore.current()
        self._task: Task | None = None
        # All formulas of a text are requested before the first of them is drawn.
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._start)
        self._store.wanted.connect(self._soon.start)
        self._soon.start()

    def _start(self) -> None:
        if self._task is not None or not (keys := self._store.take(_MOST_FORMULAS_AT_ONCE)):
            return
        self._task = self._runner.stream(lambda token: _draw_formulas(self._drawer, keys, token))
        self._task.yielded.connect(self._store.show)
        self._task.finished.connect(self._on_finished)
        self._task.start()

    def _on_finished(self) -> None:
        self._task = None
        self._soon.start()


def _draw_formulas(
    drawer: FormulaDrawer, keys: Sequence[FormulaKey], token: CancelToken
) -> Iterator[list[tuple[FormulaKey, Formula | UndrawableFormula]]]:
    """Yield the formulas, all together because showing them changes the layout."""
    drawn = []
    for key in keys:
        token.raise_if_cancelled()
        drawn.append((key, _draw_formula(drawer, key)))
    yield drawn


def _draw_formula(drawer: FormulaDrawer, key: FormulaKey) -> Formula | UndrawableFormula:
    tex, is_display, size_px, color = key
    try:
        made = drawer.draw(tex, is_display=is_display, size_px=size_px, color=color)
    except UndrawnFormula as error:
        return UndrawableFormula(str(error)) if error.is_lasting else make_retry(str(error))
    return Formula(made.svg, made.width, made.ascent, made.descent)
