"""The verb `ask`: ask the user for the necessary consent, then print the answer as it arrives."""

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import closing, redirect_stdout

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.interrupt import FAILED, Interruptible
from app.cli.output import Output, ProgressLine, can_ask, complain, confirm, readable
from app.errors import AppError, TurnFailed
from app.hidden_characters import EscapingStream, escape_text
from app.wiring import open_vault
from chains.events import (
    ApprovalRequested,
    AskResult,
    Event,
    IndexProgressed,
    ModelLoadProgressed,
    ReadingPart,
    Step,
    TextDelta,
    TextTakenBack,
    ToolStarted,
    TurnEnded,
    Warned,
)
from chains.request.ask import Ask, Selection
from context.report.markdown import report_markdown
from vault.errors import VaultError

_log = logging.getLogger(__name__)


def ask(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata ask`, and return the exit code."""
    args.mode = args.mode or ("vault" if args.project is None else "project")
    request = Ask(
        question=_question(args.question),
        mode=args.mode,
        model=args.model,
        session=args.session,
        dry_run=args.dry_run,
        update_index=not args.no_index,
        attach=tuple(args.attach),
        selections=tuple(Selection(*lines) for lines in args.selection),
        parent=args.parent,
        project=args.project,
        reads_whole=args.read_whole,
    )
    _open_vault_to_ask(args, assistant)
    is_read = args.read_whole and not args.dry_run
    if is_read and not _is_reading_agreed(assistant, request, output.is_json):
        return FAILED
    if can_ask() and not (output.is_json or args.dry_run):
        from app.cli.settings import ask_about_instructions

        ask_about_instructions(assistant, _find_project(args, assistant))
    if args.mode == "agent":
        from app.cli.approvals import connect_approvals

        connect_approvals(args, assistant)
    printer = TurnPrinter(output, args.dry_run)
    # The output of hooks goes to standard error, so that standard output has the answer only.
    with (
        Interruptible() as run,
        redirect_stdout(sys.stderr),
        closing(assistant.ask(request, run.cancel)) as events,
    ):
        try:
            for event in events:
                printer.show(event)
        finally:
            printer.leave_line()
    return run.exit_code or 0


def _find_project(args: argparse.Namespace, assistant: Assistant) -> str | None:
    """Return the project to use, or None if the mode is not `project`."""
    if args.mode != "project":
        return None
    if args.project is not None:
        return assistant.projects.find_name(args.project)
    return None if args.session is None else assistant.sessions.read(args.session).project


class TurnPrinter:
    """Prints a turn: the answer to standard output, and progress to standard error."""

    def __init__(self, output: Output, is_dry: bool) -> None:
        self._output = output
        self._is_dry = is_dry
        self._line = ProgressLine()
        self._text = EscapingStream()
        self._is_in_text = self._is_in_line = False
        self._topics: set[str] = set()  # of the warnings that were printed

    def show(self, event: Event) -> None:
        """Print an event. Events that have no printed form are ignored."""
        match event:
            case IndexProgressed():
                self._line.show_progress(event.progress)
            case Step():
                self._line.show(event.text)
            case ReadingPart() | ModelLoadProgressed():
                self._line.show_long(event.text)
            case ToolStarted():
                self._end_text()
                self._line.show(cli_text.call(event.step))
            case ApprovalRequested():
                from app.cli.approvals import format_proposal

                self._end_text()
                self._line.clear()
                lines = format_proposal(event.request.proposal)
                sys.stderr.write("".join(f"{line}\n" for line in lines))
            case Warned() if not self._output.is_json and event.topic not in self._topics:
                self._topics.update(filter(None, [event.topic]))
                self._line.clear()
                self.leave_line()
                complain(event.message)
            case TextDelta() if not self._output.is_json:
                self._line.clear()
                self._output.write(self._text.feed(event.text))
                self._is_in_text = True
                self._is_in_line = not event.text.endswith("\n")
            case TextTakenBack() if not self._output.is_json:
                self._end_text()
                complain("The text above was the model's thinking. The answer follows.")
            case TurnEnded():
                self._line.clear()
                result, self._is_in_line = event.result, False
                self._output.show(result.to_dict, self._format_answer(result))

    def leave_line(self) -> None:
        """Begin a new line on standard error if the answer has not ended its own.

        A terminal shows both outputs one after the other. Standard output has the answer alone.
        """
        if self._is_in_line:
            sys.stderr.write("\n")
        self._is_in_line = False

    def _end_text(self) -> None:
        """Finish the text that the model wrote before a tool call, and print an empty line."""
        if self._is_in_text:
            self._output.write(f"{self._text.flush()}\n\n")
        self._is_in_text = self._is_in_line = False

    def _format_answer(self, result: AskResult) -> Iterator[str]:
        if self._is_dry:
            yield escape_text(report_markdown(result.context))
            if result.read_whole is not None:
                yield from ("", *cli_text.format_reading_cost(result.read_whole))
            return
        if rest := self._text.flush():
            self._output.write(rest)
        if not result.answer.text.endswith("\n"):
            yield ""
        yield from cli_text.sources(result)
        if result.edits is not None:
            yield from cli_text.list_edits(result.edits)


def _open_vault_to_ask(args: argparse.Namespace, assistant: Assistant) -> None:
    """Open the vault if the question may need it.

    A new chat in the mode `chat` needs no vault, unless something is attached or the command line
    names a vault. If the mode is `chat` or `project` and nothing is attached, failures are only
    logged.
    """
    is_needed = args.mode not in ("chat", "project") or args.attach or args.selection
    if args.mode == "chat" and not is_needed and args.session is None and args.vault is None:
        return
    try:
        open_vault(assistant, args.vault, args.session)
    except (AppError, VaultError) as error:
        if is_needed:
            raise TurnFailed(error, args.session) from error
        _log.info("The notes of the chat are not open: %s", error)


def _is_reading_agreed(assistant: Assistant, request: Ask, is_json: bool) -> bool:
    """Return whether to read attachments part by part, asking the user about the cost.

    The cost is printed before the user is asked. Without a terminal, or with JSON output, the
    option `--read-whole` counts as consent. If everything fits without this, the result is True.

    Args:
        assistant: estimates the cost.
        request: the question with its attachments.
        is_json: whether the output is JSON.

    Raises:
        TurnFailed: the attachments cannot be read part by part.
    """
    try:
        cost = assistant.estimate_reading(request)
    except Exception as error:
        raise TurnFailed(error, request.session) from error
    if cost is None:
        complain("All that is attached fits as it is, so nothing is read part by part.")
        return True
    sys.stderr.write("".join(f"{line}\n" for line in cli_text.format_reading_cost(cost.to_dict())))
    if is_json or not can_ask():
        return True
    if confirm("Read it all?"):
        return True
    complain("Nothing was sent. Without --read-whole what is closest to the question is sent.")
    return False


def _question(text: str) -> str:
    if text != "-":
        return readable(text)
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace").removesuffix("\n")
