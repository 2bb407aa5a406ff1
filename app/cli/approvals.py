"""Ask for approvals in the terminal.

Without a terminal, only the option `--approve` can approve.
"""

import argparse
import select
import sys
from collections.abc import Iterator
from typing import Final

from app.assistant import Assistant
from app.cli.output import can_ask
from app.cli.text import plain
from chains.cancel import CancelToken
from chains.events import ApprovalRequested
from chains.tool import ApprovalLevel, ApprovalRequest, Decision

__all__ = ["TerminalApprovals", "connect_approvals", "format_proposal"]

LEVELS: Final[tuple[ApprovalLevel, ...]] = ("never", "reads", "all")
_CHECK_S: Final = 0.05
_COLORS: Final = {"+": 32, "-": 31}
_ANSWERS: Final[dict[str, Decision]] = {
    "y": "once",
    "yes": "once",
    "s": "session",
    "session": "session",
}


def connect_approvals(args: argparse.Namespace, assistant: Assistant) -> None:
    """Let the user approve proposals in the terminal. Without a terminal, only `--approve` applies.

    Args:
        args: the verb's arguments. `approve` is the approval level, or None.
        assistant: asks for these approvals in later turns.
    """
    level: ApprovalLevel = args.approve or ("ask" if can_ask() else "never")
    assistant.agents.connect(TerminalApprovals() if can_ask() else None, level)


class TerminalApprovals:
    """Asks for approvals in the terminal. Anything but yes is a rejection."""

    def decide(self, request: ApprovalRequest, cancel: CancelToken) -> Decision:
        """Ask about a proposal that was already shown."""
        scope = request.proposal.session_scope
        choices = f"[y]es, [s] yes to {plain(scope)} in this chat, [N]o" if scope else "[y/N]"
        sys.stderr.write(f"Allow this? {choices} ")
        sys.stderr.flush()
        decision = _ANSWERS.get(_read_line(cancel).strip().lower(), "reject")
        return "reject" if decision == "session" and not scope else decision


def format_proposal(event: ApprovalRequested) -> Iterator[str]:
    """Yield lines that show what a tool call would do."""
    yield ""
    yield plain(event.summary)
    is_colored = sys.stderr is not None and sys.stderr.isatty()
    for line in map(plain, event.diff.splitlines()):
        yield _color_line(line) if is_colored else line
    yield from (f"Careful: {plain(warning)}" for warning in event.warnings)


def _color_line(line: str) -> str:
    """Color added diff lines green and removed ones red."""
    code = _COLORS.get(line[:1])
    return line if code is None else f"\x1b[{code}m{line}\x1b[0m"


def _read_line(cancel: CancelToken) -> str:
    """Read a line from the terminal, or return an empty string if the turn is cancelled.

    The input is polled, because a blocked thread would prevent the program from exiting.
    """
    while not cancel.is_cancelled:
        if select.select([sys.stdin], [], [], _CHECK_S)[0]:
            return sys.stdin.readline()
    return ""
