"""Choose a model file (GGUF): the file dialog, a check of the file, and the form for it."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.config.model_files import FileOffer
from app.config.model_setup import Connection, ModelSetup
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import make_wrapped_label, one_line
from ui.widgets.dialogs import choose_file
from ui.widgets.layouts import grow, make_row

__all__ = ["ModelFileChooser", "ModelFileForm"]

_TITLE = "Open a model file"
_FILTER = "Model files (*.gguf);;All files (*)"


class ModelFileChooser(QObject):
    """Lets the user choose a model file, and reads the file's header in the background.

    Signals:
        looking: emitted when a file has been chosen and its header is about to be read.
        offered: emitted with the `FileOffer` for the file when its header has been read.
        failed: emitted with the error if the file cannot be read.
    """

    looking = Signal()
    offered = Signal(object)
    failed = Signal(object)

    def __init__(self, setup: ModelSetup, runner: TaskRunner, window: QWidget) -> None:
        super().__init__(window)
        self._setup, self._window = setup, window
        self._folder = ""
        self._looks = LatestOnly(runner, 0, self)
        self._looks.answered.connect(self.offered)
        self._looks.failed.connect(self.failed)

    def choose(self) -> None:
        """Open the file dialog, and read the header of the file that the user chooses."""
        chosen = choose_file(self._window, _TITLE, self._folder, _FILTER)
        if chosen:
            path = Path(chosen)
            self._folder = str(path.parent)
            self.looking.emit()
            self._looks.ask(lambda: self._setup.look_at_file(path), now=True)


class ModelFileForm(QWidget):
    """A button that opens the file dialog, and a description of the chosen file.

    The signal `changed` is emitted when a file is chosen, when its header has been read, and when
    the choice is discarded.

    Attributes:
        offer: a description of the chosen file, or None until the file's header has been read.
    """

    changed = Signal()

    def __init__(self, setup: ModelSetup, runner: TaskRunner) -> None:
        super().__init__()
        self.offer: FileOffer | None = None
        self.chooser = ModelFileChooser(setup, runner, self)
        self.chooser.looking.connect(self._on_looking)
        self.chooser.offered.connect(self._on_offered)
        self.open = make_button(
            ButtonText("Choose a file…", "Look for the model's file on this computer"),
            "",
            self.chooser.choose,
        )
        self.state = make_wrapped_label("", "caption", "secondary")
        make_row(self.open, grow(self.state), margins=(16, 0, 16, 4), spacing=12, parent=self)

    @property
    def connection(self) -> Connection | None:
        """The model settings for the chosen file, or None if no loadable file has been chosen."""
        offer = self.offer
        return None if offer is None or offer.obstacle else Connection(offer.choice.name)

    def say(self, text: str, tone: str = "secondary") -> None:
        """Show a description of the model file, or why it cannot be used.

        Args:
            text: the description or the reason.
            tone: the name of the text colour.
        """
        self.state.setText(one_line(text))
        dress(self.state, "caption", tone)

    def forget(self) -> None:
        """Discard the chosen model file and its description."""
        self.offer = None
        self.say("")
        self.changed.emit()

    def _on_looking(self) -> None:
        self.offer = None
        self.say("Reading the file…")
        self.changed.emit()

    def _on_offered(self, offer: FileOffer) -> None:
        self.offer = offer
        if offer.obstacle:
            self.say(offer.obstacle, "danger")
        else:
            self.say(f"{offer.choice.label}: {offer.sentence}")
        self.changed.emit()
