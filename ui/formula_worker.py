"""The child process that draws formulas: TeX to SVG by `ziamath`, which only this module imports.

Run as `python -P -m ui.formula_worker`. A request is the header `{tex, is_display, size_px, color,
limit_s}`, of which the last is the processor time that drawing may take. The answer consists of the
header `{width, ascent, descent}` in pixels and the bytes of an SVG file.
If the formula cannot be drawn, the answer is only the header `{failure, is_slow?}`.

The time for drawing grows steeply with the depth of a formula, so it is limited. The memory of the
child process is limited too. It ends when no request has arrived for a while.
"""

import os
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import process_time, sleep
from typing import Any, Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from resources.system.processes import limit_memory
from vault.workers.frames import Answer, Frame, Requests

__all__ = ["draw_formula"]

MAX_MEMORY_BYTES: Final = 1024**3
IDLE_S: Final = 120.0
MOST_CHARS: Final = 1_200
_CHECK_S: Final = 0.05
_MOST_SIZE_PX: Final = 4_000
_LARGER: Final = 1.1  # the letters of the formula's font are smaller than those of the text
_TOO_DEEP: Final = "The formula is not drawn: it is nested too deeply."
_TOO_LONG: Final = "The formula is not drawn: it takes too long to draw."
_NOT_READ: Final = "The formula cannot be read: it holds a sign that is not known here."
# The library copies what stands in these to XML as it is.
_TEXT: Final = re.compile(
    r"(\\(?:text(?:rm|bf|it|sf|tt|normal)?|mbox)\s*\{)((?:[^{}\\]|\\.|\{[^{}]*\})*)"
)
_ESCAPED: Final = re.compile(r"\\([&%#_])")
_NO_TEX: Final = re.compile(r"\\(?:href|url|includegraphics|input|def|newcommand|tag)\b")


def main() -> None:
    """Answer requests until the parent process ends or no request has arrived for a while."""
    limit_memory(MAX_MEMORY_BYTES)
    requests = Requests(ends_at_once=True, idle_s=IDLE_S)
    limit = _TimeLimit(requests)
    requests.serve(lambda frame: _answer(frame, limit))


def _answer(frame: Frame, limit: "_TimeLimit") -> Answer:
    header = frame.header
    _load_library()
    with limit.watch(header["id"], header["limit_s"]):
        return draw_formula(
            header["tex"],
            is_display=header["is_display"],
            size_px=header["size_px"],
            color=header["color"],
        )


def draw_formula(tex: str, *, is_display: bool, size_px: float, color: str) -> Answer:
    """Draw a formula, or return the reason why it stays as TeX.

    Args:
        tex: the formula in TeX, without dollar signs.
        is_display: whether it stands alone, so that sums and fractions are larger.
        size_px: the size of the font of the text around it.
        color: the colour of the text as `#rrggbb`.

    Returns:
        The header and the bytes of the answer, as described in the module's docstring.
    """
    if len(tex) > MOST_CHARS:
        reason = f"The formula has {len(tex):,} characters; up to {MOST_CHARS:,} are drawn."
        return {"failure": reason}, b""
    if found := _NO_TEX.search(tex):
        return {"failure": f"The formula is not drawn: {found[0]} is not known here."}, b""
    try:
        ziamath = _load_library()
        made = ziamath.Latex(
            _escape_texts(tex), size=size_px * _LARGER, color=color, inline=not is_display, margin=0
        )
        svg, (width, height) = made.svg().encode("utf-8", "replace"), made.getsize()
        descent = -float(made.getyofst())
        ElementTree.fromstring(svg)  # noqa: S314 - made here
    except (RecursionError, MemoryError):
        return {"failure": _TOO_DEEP}, b""
    except ElementTree.ParseError:
        return {"failure": _NOT_READ}, b""
    except Exception as error:  # noqa: BLE001 - the library raises whatever goes wrong in it
        return {"failure": f"The formula cannot be read: {_describe(error)}."}, b""
    if not 0 < width <= _MOST_SIZE_PX or not 0 < height <= _MOST_SIZE_PX:
        return {"failure": "The formula is not drawn: it is empty or too large."}, b""
    return {"width": width, "ascent": height - descent, "descent": descent}, svg


def _escape_texts(tex: str) -> str:
    """Return a formula with its words as XML, such as "R&amp;D"."""
    return _TEXT.sub(lambda found: found[1] + escape(_ESCAPED.sub(r"\1", found[2])), tex)


@cache
def _load_library() -> Any:
    """Import the library at the first formula. It finds its fonts in a way that is deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import ziamath
    ziamath.config.svg2 = False  # Qt draws paths, but does not place symbols
    return ziamath


def _describe(error: Exception) -> str:
    message = " ".join(str(error).split())[:120].rstrip(".")
    return message or {"AssertionError": "a bracket is missing"}.get(
        type(error).__name__, re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
    )


class _TimeLimit:
    """Ends this process when drawing one formula takes too long, with an answer that says so.

    An exception in the thread that draws would do less: the library may swallow it. The parent
    starts a new process for its next request.
    """

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._is_drawing = threading.Event()
        self._lock = threading.Lock()
        self._request, self._until_s = 0, 0.0
        threading.Thread(target=self._check, name="time limit", daemon=True).start()

    @contextmanager
    def watch(self, request: int, limit_s: float) -> Iterator[None]:
        """Limit the processor time of the body, which answers the request with this number."""
        self._request, self._until_s = request, process_time() + limit_s
        self._is_drawing.set()
        try:
            yield
        finally:
            with self._lock:
                self._is_drawing.clear()

    def _check(self) -> None:
        while self._is_drawing.wait():
            sleep(_CHECK_S)
            with self._lock:
                if self._is_drawing.is_set() and process_time() > self._until_s:
                    self._requests.answer(
                        {"id": self._request, "failure": _TOO_LONG, "is_slow": True}
                    )
                    os._exit(0)


if __name__ == "__main__":
    main()
