"""Reading attachments whole from the command line: what it takes is told before it begins."""

import sys

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.output import complain
from app.cli.run import can_ask
from app.errors import TurnFailed
from app.sessions.ask import AskRequest

__all__ = ["is_agreed"]


def is_agreed(assistant: Assistant, request: AskRequest, is_json: bool) -> bool:
    """Tell what reading takes, and ask where somebody can answer; elsewhere the flag says yes.

    Raises:
        TurnFailed: it cannot be read whole, or what is attached cannot be read at all.
    """
    try:
        cost = assistant.reading_cost(request)
    except Exception as error:
        raise TurnFailed(error, request.session) from error
    if cost is None:
        complain("All that is attached fits as it is, so nothing is read part by part.")
        return True
    sys.stderr.write("".join(f"{line}\n" for line in cli_text.reading_cost(cost.to_dict())))
    if is_json or not can_ask():
        return True
    sys.stderr.write("Read it all? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    complain("Nothing was sent. Without --read-whole what is closest to the question is sent.")
    return False
