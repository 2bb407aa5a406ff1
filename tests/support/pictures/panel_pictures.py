"""Pictures of the context panel in several states: calm, amber, compacted, dropped, overflow.

`python -m tests.support.pictures.panel_pictures FOLDER` saves one picture per theme there.
"""

import os
import sys
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QHBoxLayout, QTreeView, QWidget

from tests.support.sessions.contexts import QUESTIONS, panel_states
from ui.panels.context.panel import ContextPanel, PanelState
from ui.panels.context.words import Counted, Prices
from ui.theme import Mode, Theme, tokens

_HIGH = 860
_OFFERS = ("compact", "raise", "summary", "before")
_PRICES = Prices(read=2.5e-6, kept=1.25e-6)
_BESIDE = {
    "calm": PanelState(QUESTIONS, prices=_PRICES, is_estimate=True),
    "amber": PanelState(QUESTIONS, prices=_PRICES, offers=_OFFERS),
    "compacted": PanelState(QUESTIONS, Counted(46_900, 5_552), _PRICES, offers=_OFFERS),
    "dropped": PanelState(QUESTIONS, prices=_PRICES, offers=_OFFERS),
    "overflow": PanelState(QUESTIONS, offers=_OFFERS),
}


def make_panels(mode: Mode, folder: Path) -> None:
    """Save the picture for one theme, with some rows expanded."""
    Theme.current().apply(mode)
    row = QWidget()
    row.setProperty("surface", "content")
    layout = QHBoxLayout(row)
    for name, context in panel_states().items():
        panel = ContextPanel()
        panel.setFixedSize(int(tokens()["layout"]["right"]["default"]), _HIGH)
        panel.show_context(context, _BESIDE[name])
        layout.addWidget(panel)
    row.show()
    for tree in row.findChildren(QTreeView):
        if tree.accessibleName() == "Layers":
            tree.expand(tree.model().index(4, 0))
        else:
            tree.expandAll()
    _settle()
    folder.mkdir(parents=True, exist_ok=True)
    row.grab().save(str(folder / f"panels-{mode}.png"))
    row.close()


def _settle() -> None:
    loop = QEventLoop()
    QTimer.singleShot(250, loop.quit)
    loop.exec()


def main() -> None:
    """Save both pictures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    _app = QApplication(sys.argv[:1])
    make_panels("light", Path(sys.argv[1]))
    make_panels("dark", Path(sys.argv[1]))


if __name__ == "__main__":
    main()
