"""Ask for approvals in the terminal.

A change with several hunks can be approved hunk by hunk. Without a terminal, changes are approved
only through the option `--approve`.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from app.assistant import Assistant
from app.cli.output import can_ask
from app.hidden_characters import escape_text
from chains.cancel import CancelToken
from chains.tool import ApprovalLevel, ApprovalRequest, Decision, KeptHunks, Proposal, Verdict
from resources.system.processes import is_readable

__all__ = ["TerminalApprovals", "connect_approvals", "format_proposal"]

_CHECK_S: Final = 0.05
_COLORS: Final = {"+": 32, "-": 31}
_ANSWERS: Final[dict[str, Decision]] = {
    "y": "once",
    "yes": "once",
    "s": "session",
    "session": "session",
}
_BY_HUNK: Final = frozenset({"c", "choose"})
_HELP: Final = (
    "y: make this change; n: leave it out; a: make it and all that follow; "
    "d: leave it out and all that follow"
)


def connect_approvals(args: argparse.Namespace, assistant: Assistant) -> None:
    """Let the user approve proposals in the terminal.

    Without a terminal, changes are approved only through the option `--approve`.

    Args:
        args: the arguments of the subcommand. `approve` is the approval level, or None.
        assistant: the assistant whose proposals are shown to the user for approval.
    """
    level: ApprovalLevel = args.approve or "ask"
    assistant.agents.connect(TerminalApprovals() if can_ask() else None, level)


class TerminalApprovals:
    """Asks for approvals in the terminal. Any answer that was not offered rejects the proposal."""

    def decide(self, request: ApprovalRequest, cancel: CancelToken) -> Verdict:
        """Ask the user to approve a proposal, and return the decision."""
        proposal = request.proposal
        scope, hunks = proposal.session_scope, proposal.hunks
        answer = _ask(f"Allow this? {_list_choices(scope, len(hunks))} ", cancel).strip().lower()
        if hunks and answer in _BY_HUNK:
            return _decide_by_hunk(hunks, cancel)
        decision = _ANSWERS.get(answer, "reject")
        return "reject" if decision == "session" and not scope else decision


def _list_choices(scope: str, hunks: int) -> str:
    """Return the answers that the user can give to a proposal, in a form such as `[y/N]`.

    Args:
        scope: what an approval for the whole chat covers, or an empty string if only this proposal
            can be approved.
        hunks: the number of hunks that can be approved one by one, or 0.
    """
    if scope:
        return f"[y]es, [s] yes to {escape_text(scope)} in this chat, [N]o"
    return f"[y]es, [c]hoose among {hunks} changes, [N]o" if hunks else "[y/N]"


def _decide_by_hunk(hunks: Sequence[str], cancel: CancelToken) -> Verdict:
    """Ask about each hunk of a change, and return which hunks the user approved.

    The result is "once" if all hunks were approved, "reject" if none was approved or the turn was
    cancelled, and `KeptHunks` otherwise.
    """
    kept: set[int] = set()
    for number, hunk in enumerate(hunks):
        sys.stderr.write("\n".join(["", *_format_diff(hunk), ""]))
        answer = _ask_about_hunk(number, len(hunks), cancel)
        if answer == "a":
            kept.update(range(number, len(hunks)))
        elif answer == "y":
            kept.add(number)
        if answer in {"a", "d", ""}:
            break
    if cancel.is_cancelled or not kept:
        return "reject"
    return "once" if len(kept) == len(hunks) else KeptHunks(frozenset(kept))


def _ask_about_hunk(number: int, hunks: int, cancel: CancelToken) -> str:
    """Ask about one hunk until the answer is `y`, `n`, `a` or `d`, and return the answer.

    The result is an empty string if the turn is cancelled or the input has ended.

    Args:
        number: the index of the hunk, counted from 0.
        hunks: the number of all hunks.
        cancel: the cancel token of the turn.
    """
    while line := _ask(f"Make change {number + 1} of {hunks}? [y,n,a,d] ", cancel):
        answer = line.strip().lower()
        if answer in {"y", "n", "a", "d"}:
            return answer
        sys.stderr.write(f"{_HELP}\n")
    return ""


def format_proposal(proposal: Proposal) -> Iterator[str]:
    """Yield lines that show what a tool call would do."""
    yield ""
    yield escape_text(proposal.summary)
    yield from _format_diff(proposal.diff)
    yield from (f"Careful: {escape_text(warning)}" for warning in proposal.warnings)


def _format_diff(diff: str) -> Iterator[str]:
    """Yield the lines of a diff, coloured if standard error is a terminal."""
    is_colored = sys.stderr is not None and sys.stderr.isatty()
    for line in map(escape_text, diff.splitlines()):
        yield _color_line(line) if is_colored else line


def _color_line(line: str) -> str:
    """Return a line of a diff, in green if it was added and in red if it was removed."""
    code = _COLORS.get(line[:1])
    return line if code is None else f"\x1b[{code}m{line}\x1b[0m"


def _ask(question: str, cancel: CancelToken) -> str:
    """Ask a question in the terminal. Return the answer, or an empty string at end of input."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return _read_line(cancel)


def _read_line(cancel: CancelToken) -> str:
    """Read a line from the terminal, or return an empty string if the turn is cancelled.

    The input is polled, because a blocked thread would prevent the program from exiting.
    """
    while not cancel.is_cancelled:
        if is_readable(sys.stdin.fileno(), _CHECK_S):
            return sys.stdin.readline()
    return ""
