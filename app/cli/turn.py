"""A turn as it is printed while it runs: text for a person, or one document at its end."""

from collections.abc import Iterator

from app.cli import text as cli_text
from app.cli.output import Output, complain
from chains.events import (
    AskResult,
    Event,
    IndexProgressed,
    ReadingPart,
    Step,
    TextDelta,
    ToolStarted,
    TurnEnded,
    Warned,
)
from context.report.markdown import report_markdown


class TurnPrinter:
    """Prints what happens in a turn; progress goes to standard error, where a person sees it."""

    def __init__(self, output: Output, is_dry: bool) -> None:
        self._output = output
        self._is_dry = is_dry
        self._line = cli_text.ProgressLine()
        self._text = cli_text.PlainStream()
        self._is_in_text = False

    def show(self, event: Event) -> None:
        """Print an event, as far as it is anything to print."""
        match event:
            case IndexProgressed():
                self._line.show(cli_text.progress(event.progress))
            case Step() | ReadingPart():
                self._line.show(event.text)
            case ToolStarted():
                self._end_text()
                self._line.show(cli_text.call(event))
            case Warned() if not self._output.is_json:
                self._line.clear()
                complain(event.message)
            case TextDelta() if not self._output.is_json:
                self._line.clear()
                self._output.write(self._text.feed(event.text))
                self._is_in_text = True
            case TurnEnded():
                self._line.clear()
                result = event.result
                self._output.show(result.to_dict, self._answered(result))

    def _end_text(self) -> None:
        """Let what is said after the tools begin a paragraph of its own."""
        if self._is_in_text:
            self._output.write(f"{self._text.flush()}\n\n")
        self._is_in_text = False

    def _answered(self, result: AskResult) -> Iterator[str]:
        if self._is_dry:
            yield cli_text.plain(report_markdown(result.context))
            if result.read_whole is not None:
                yield from ("", *cli_text.reading_cost(result.read_whole))
            return
        if rest := self._text.flush():
            self._output.write(rest)
        if not result.answer.endswith("\n"):
            yield ""
        yield from cli_text.sources(result)
