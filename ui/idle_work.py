"""Do slow work while the GUI thread is idle: garbage collection and slow imports.

A full garbage collection stops the whole program for 100 to 300 ms. The import of the library that
calls models holds Python's interpreter lock long enough to delay frames. The user notices neither
while nothing moves in the window.
"""

import gc
import sys
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QThread, QTimer, Signal

__all__ = ["FULL_ALWAYS", "IDLE_CHECKS", "GarbageCollector", "IdleTimer", "call_when_idle"]

# While the library that calls models is imported, 45,000 objects are created between two checks.
# Collecting them takes 25 ms.
_CHECK_MS = 250
IDLE_CHECKS = 8
_MOST_BUSY_S = 0.01
# A full collection is due after this number of partial ones: if idle, and in any case.
_FULL_IF_IDLE, FULL_ALWAYS = 20, 1_200
_NEW_MODULES = 100


class IdleTimer(QObject):
    """Checks four times a second whether the GUI thread is idle.

    The thread is idle if it used at most 10 ms of processor time in each of the last eight quarter
    seconds. Typing, scrolling and receiving an answer use more. Observing every Qt event instead
    would slow down each event.

    The signal `checked` is emitted after each check. Its argument is True if the thread is idle.

    Args:
        parent: the Qt parent.
        read_busy_s: returns the processor time of the GUI thread in seconds.
    """

    checked = Signal(bool)

    def __init__(
        self, parent: QObject, *, read_busy_s: Callable[[], float] = time.thread_time
    ) -> None:
        super().__init__(parent)
        self._read_busy_s = read_busy_s
        self._busy_s = read_busy_s()
        self._idle_checks = 0
        self._timer = QTimer(self, interval=_CHECK_MS)
        self._timer.timeout.connect(self.check)
        self._timer.start()

    def check(self) -> None:
        """Check whether the thread has been idle, and emit `checked` with the result."""
        before, self._busy_s = self._busy_s, self._read_busy_s()
        is_quiet = self._busy_s - before <= _MOST_BUSY_S
        self._idle_checks = self._idle_checks + 1 if is_quiet else 0
        self.checked.emit(self._idle_checks >= IDLE_CHECKS)
        self._busy_s = self._read_busy_s()  # the receivers' work does not count as activity


class GarbageCollector(QObject):
    """Runs Python's garbage collection in the GUI thread only, until the program ends.

    By default, Python collects reference cycles in any thread that allocates memory. A cycle can
    contain a widget, and Qt crashes if a widget is destroyed outside the GUI thread. Therefore,
    automatic collection is turned off, and a timer collects instead:

    - At each check of the timer, recently created objects are collected if their number exceeds
      Python's threshold.
    - After 20 such collections, all objects are collected as soon as the GUI thread is idle. After
      1,200 such collections, which take at least five minutes, this is done even if it is busy.
    - Nothing is collected while an event is under way, which is the case while an event handler
      runs an event loop of its own, such as that of a menu or a file dialog. The collection could
      destroy an object to which Qt returns when that loop ends.
    - Most objects that are created while a module is loaded are never freed. Therefore, at the
      first idle moment after 100 modules were loaded, all existing objects are excluded from later
      collections, which makes these several times faster.
    """

    def __init__(self, parent: QObject, timer: IdleTimer) -> None:
        super().__init__(parent)
        gc.disable()
        gc.freeze()
        self._modules = 0
        self._checks = 0
        self._timer = timer
        self._timer.checked.connect(self._collect_what_is_due)

    def _collect_what_is_due(self, is_idle: bool) -> None:
        if QThread.currentThread().loopLevel() > 1:  # 1 is the loop of the application
            return
        if is_idle and len(sys.modules) >= self._modules + _NEW_MODULES:
            self._collect_all()
            self._modules = len(sys.modules)
            gc.freeze()
        elif self._checks >= (_FULL_IF_IDLE if is_idle else FULL_ALWAYS):
            self._collect_all()
        elif gc.get_count()[0] > gc.get_threshold()[0]:
            gc.collect(1)
            self._checks += 1

    def _collect_all(self) -> None:
        gc.collect()
        self._checks = 0


def call_when_idle(work: Callable[[], object], timer: IdleTimer) -> None:
    """Call a function once, as soon as the GUI thread is idle.

    Args:
        work: the function.
        timer: the timer that checks whether the thread is idle.
    """

    def call(is_idle: bool) -> None:
        if is_idle:
            timer.checked.disconnect(call)
            work()

    timer.checked.connect(call)
