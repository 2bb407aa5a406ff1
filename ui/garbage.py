"""Python's garbage collector, run in the interface's thread alone.

Python collects reference cycles in whichever thread happens to allocate. A cycle can hold a widget,
and Qt crashes when a widget is destroyed outside of its thread, so no task may collect.
"""

import gc

from PySide6.QtCore import QObject, QTimer

__all__ = ["GarbageCollector"]

_INTERVAL_MS = 500


class GarbageCollector(QObject):
    """Collects garbage in the interface's thread for as long as it lives.

    Python's own thresholds decide what is collected; they are looked at twice a second.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        gc.freeze()  # what is loaded by now stays, and need not be looked at each time
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._collect_what_is_due)
        self._timer.start()

    def stop(self) -> None:
        """Let Python collect by itself again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _collect_what_is_due(self) -> None:
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if counts[generation] > thresholds[generation]:
                gc.collect(generation)
                return
