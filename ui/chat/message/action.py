"""What is wanted of a message that stands in the chat."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["MessageAction"]


@dataclass(frozen=True)
class MessageAction:
    """One thing that is to be done with a message.

    Attributes:
        kind: `edit` a question, `again` another answer, `branch` a chat of its own up to here,
            `select` another version, `label` a name for it, `saw` what the model saw, `pin` it or
            `unpin` it.
        entry: the message's place in the log; of `select` that of the other version.
        text: of `edit` and `label`.
    """

    kind: Literal["edit", "again", "branch", "select", "label", "saw", "pin", "unpin"]
    entry: str
    text: str = ""
