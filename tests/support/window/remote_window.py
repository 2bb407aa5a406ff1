"""The installed program on an X server of the test's own, driven from outside by mouse and keys.

```
with Screen() as screen:
    window = RemoteWindow.open(screen, program)
    window.click("Settings")
    window.type("gpt-4o")
    window.wait_for("Saved")
```

All input is made by xdotool. What the window shows comes from its accessibility tree, through
`window_probe`, so controls are found by the names that a screen reader says.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from tests.support.processes.program import Program, wait_until
from tests.support.window import window_probe

SIZE = (1440, 900)
_PLUG_IN = """\
import importlib.util

spec = importlib.util.spec_from_file_location("window_probe", {path!r})
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
probe.start()
"""
_LEFT, _RIGHT = 1, 3


class Screen:
    """An X server without a monitor; a context manager."""

    def __init__(self, size: tuple[int, int] = SIZE) -> None:
        for tool in ("Xvfb", "xdotool"):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed; .ci/system-packages installs it")
        number, told = os.pipe()
        shape = f"{size[0]}x{size[1]}x24"
        with os.fdopen(number, "rb") as line:
            self._server = subprocess.Popen(
                ["Xvfb", "-displayfd", str(told), "-screen", "0", shape, "-nolisten", "tcp"],
                pass_fds=(told,),
                stderr=subprocess.DEVNULL,
            )
            os.close(told)
            self.display = f":{line.readline().decode().strip()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.terminate()
        self._server.wait(30)

    @property
    def environ(self) -> dict[str, str]:
        """The variables with which a program shows its window here."""
        return {"DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb"}

    def act(self, *words: object) -> None:
        """Move the mouse or press keys with xdotool."""
        command = ["xdotool", *map(str, words)]
        subprocess.run(command, env={**os.environ, **self.environ}, check=True)


@dataclass(frozen=True)
class Node:
    """Something that is visible, as a screen reader would describe it.

    Attributes:
        above: the names of what it is in, the outermost first.
        window: the number of its window; the front one has the highest.
    """

    role: str
    name: str
    text: str
    about: str
    rect: tuple[int, int, int, int]
    above: tuple[str, ...]
    window: int
    is_enabled: bool
    has_focus: bool
    is_checked: bool
    is_selected: bool

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Self:
        """Read a node from the probe's JSON."""
        shape = tuple(fields.pop("rect")), tuple(fields.pop("above"))
        return cls(rect=shape[0], above=shape[1], **fields)

    @property
    def middle(self) -> tuple[int, int]:
        """The point to click."""
        x, y, width, height = self.rect
        return x + width // 2, y + height // 2

    def covers(self, spot: tuple[int, int]) -> bool:
        """Return whether it is at a point of the screen."""
        x, y, width, height = self.rect
        return x <= spot[0] < x + width and y <= spot[1] < y + height


class RemoteWindow:
    """A running program and its window.

    Attributes:
        is_managed: whether a window without the focus gets it before keys are pressed, as a window
            manager gives it.
    """

    def __init__(self, screen: Screen, child: "subprocess.Popen[bytes]", ends: tuple[int, int]):
        self.is_managed = True
        self.screen = screen
        self.child = child
        self._replies = os.fdopen(ends[0], "rb")
        self._requests = os.fdopen(ends[1], "wb", buffering=0)

    @classmethod
    def start(cls, screen: Screen, program: Program, *argv: str) -> Self:
        """Start the program; return at once."""
        folder = program.home.with_name("plug-in")
        folder.mkdir(exist_ok=True)
        source = _PLUG_IN.format(path=window_probe.__file__)
        (folder / "sitecustomize.py").write_text(source, "utf-8")
        replies, told = os.pipe()
        asked, requests = os.pipe()
        environ = {
            **screen.environ,
            "PYTHONPATH": str(folder),
            window_probe.VARIABLE: f"{asked},{told}",
        }
        shown = program.with_environ(environ)
        child = shown.start(*argv, pass_fds=(asked, told))
        for end in (asked, told):
            os.close(end)
        assert child.pid  # waits until it is forked, for which libraries may have to be imported
        return cls(screen, child, (replies, requests))

    @classmethod
    def open(cls, screen: Screen, program: Program, *argv: str) -> Self:
        """Start the program and wait until its window is shown."""
        window = cls.start(screen, program, *argv)
        wait_until(lambda: bool(window.nodes()), "a window")
        return window

    def nodes(self) -> list[Node]:
        """Return everything that is visible."""
        return [Node.read(fields) for fields in self._ask(ask="nodes").get("nodes", ())]

    def find(self, name: str, role: str = "", under: str = "") -> list[Node]:
        """Return what is visible with a name, the frontmost last.

        A name is enough without the details that follow it, as in `Watering.md, 2 notes`.

        Args:
            role: its role in Qt's accessibility, such as `Button`; empty for any.
            under: the name of something that it must be in.
        """
        return [
            node
            for node in self.nodes()
            if _is_named(node, name)
            and role in ("", node.role)
            and (not under or under in node.above)
        ]

    def wait(self, name: str, role: str = "", under: str = "", *, is_enabled: bool = True) -> Node:
        """Wait until something with a name is visible, enabled and no longer moves; return it."""
        seen: list[Node] = []

        def is_still() -> bool:
            found = self.find(name, role, under)
            before, seen[:] = list(seen), found[-1:]
            is_ready = bool(seen) and seen[0].is_enabled >= is_enabled
            return is_ready and before[:1] == seen

        self._wait(is_still, f"{role} {name!r} {f'in {under!r}' if under else ''}")
        return seen[0]

    def wait_for(self, words: str, under: str = "") -> None:
        """Wait until some words are shown, in a label or in a text."""
        self._wait(lambda: self.shows(words, under), f"the words {words!r}")

    def wait_until_gone(self, words: str, under: str = "") -> None:
        """Wait until some words are no longer shown."""
        self._wait(lambda: not self.shows(words, under), f"no words {words!r}")

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait for a condition; where it does not come, fail with what the window shows."""
        self._wait(is_so, what)

    def shows(self, words: str, under: str = "") -> bool:
        """Return whether some words are visible."""
        return any(
            (words in node.name or words in node.text) and (not under or under in node.above)
            for node in self.nodes()
        )

    def read(self, name: str, role: str = "", under: str = "") -> str:
        """Return the text in a field or a page."""
        return self.wait(name, role, under, is_enabled=False).text

    def click(self, name: str, role: str = "", under: str = "", button: int = _LEFT) -> None:
        """Click the middle of something."""
        self.click_at(self.wait(name, role, under).middle, button)

    def click_words(self, words: str, under: str = "", occurrence: int = 0) -> None:
        """Click the middle of some words in a text."""
        x, y, width, height = self.find_words(words, under)[occurrence]
        self.click_at((x + width // 2, y + height // 2))

    def find_words(self, words: str, under: str = "") -> list[tuple[int, int, int, int]]:
        """Wait until some words are shown in a text; return where, once they no longer move."""
        seen: list[Any] = []

        def is_still() -> bool:
            found = self._ask(ask="words", words=words, under=under)["rects"]
            before, seen[:] = list(seen), found
            return bool(found) and before == found

        self._wait(is_still, f"the words {words!r} in a text")
        return [tuple(rect) for rect in seen]

    def click_at(self, spot: tuple[int, int], button: int = _LEFT) -> None:
        """Click a point of the screen, once no tooltip is in the way."""
        self.screen.act("mousemove", *spot)
        tips = "no tooltip over what is clicked"
        self._wait(lambda: not any(node.covers(spot) for node in self._tooltips()), tips)
        self.screen.act("click", button)

    def _tooltips(self) -> list[Node]:
        return [node for node in self.nodes() if node.role == "ToolTip"]

    def right_click(self, name: str, role: str = "", under: str = "") -> None:
        """Open the context menu of something with the mouse."""
        self.click(name, role, under, _RIGHT)

    def choose(self, item: str) -> None:
        """Click an item in the menu that is open."""
        self.click(item, "MenuItem")

    def press(self, *keys: str) -> None:
        """Press keys, such as `ctrl+n`."""
        self._focus()
        self.screen.act("key", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._focus()
        self.screen.act("type", "--delay", "1", text)

    def save(self, path: Path) -> Path:
        """Save a picture of the screen."""
        self._ask(ask="save", path=str(path))
        return path

    def close(self) -> int:
        """Quit the program with its shortcut; return its exit code."""
        self.press("ctrl+q")
        return self.child.wait(60)

    def release(self) -> None:
        """Close the pipes to the probe."""
        self._requests.close()
        self._replies.close()

    def kill(self) -> None:
        """Kill the program and its child processes without a chance to tidy up."""
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.communicate(timeout=60)

    def describe(self) -> str:
        """Return one line for everything that is visible, for the message of a failed test."""
        return "\n".join(
            f"{node.window} {node.role} {node.name!r} {node.text[:60]!r} {node.rect}"
            f"{'' if node.is_enabled else ' disabled'}{' focus' if node.has_focus else ''}"
            for node in self.nodes()
            if node.name or node.text
        )

    def _focus(self) -> None:
        """Focus the front window if none has the focus, as a window manager does."""
        window = self._ask(ask="unfocused").get("window") if self.is_managed else None
        if window is not None:
            self.screen.act("windowfocus", window)
            self._wait(lambda: self._ask(ask="unfocused").get("window") is None, "the focus")

    def _wait(self, is_so: Callable[[], bool], what: str) -> None:
        try:
            wait_until(is_so, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.describe()}") from None

    def _ask(self, **request: object) -> dict[str, Any]:
        assert self.child.poll() is None, self.child.communicate()[1].decode()
        self._requests.write(json.dumps(request).encode() + b"\n")
        line = self._replies.readline()
        assert line, f"the program has ended: {self.child.communicate(timeout=60)}"
        reply: dict[str, Any] = json.loads(line)
        assert "error" not in reply, reply
        return reply


def _is_named(node: Node, name: str) -> bool:
    return node.name == name or node.name.startswith((f"{name},", f"{name}\t"))


Opened = Callable[..., RemoteWindow]
