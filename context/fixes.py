"""Ways out of an error, as values that each interface words for its own users.

The command line names the commands to type (`str(fix)`), JSON-RPC the requests to send
(`app.rpc.fixes`), and the window the labels of settings (`ui.widgets.texts.word_hint`).
"""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Command", "Fix", "Hint", "Option", "Place", "Setting", "make_hint"]


@dataclass(frozen=True)
class Setting:
    """A setting that a way out names, by its key in the settings file."""

    key: str

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True)
class Command:
    """A command that is a way out, such as `strata sessions restore ID`.

    Attributes:
        verb: the command without `strata` and without its values, such as "sessions restore".
        values: the values of the command, as they are typed.
        project: the folder that is given with `--project`, or None.
    """

    verb: str
    values: tuple[str, ...] = ()
    project: str | None = None

    def __str__(self) -> str:
        project = () if self.project is None else ("--project", shlex.quote(self.project))
        return f"`{' '.join(('strata', self.verb, *self.values, *project))}`"


@dataclass(frozen=True)
class Option:
    """An option of the command line that is a way out, such as "--attach" or "--vault DIR"."""

    text: str

    def __str__(self) -> str:
        return self.text


Place = Setting | Command | Option


@dataclass(frozen=True, init=False)
class Fix:
    """A way out of an error: a sentence with places that each interface words.

    Attributes:
        text: the sentence, with `{}` in place of each place. Without places, it may be several
            sentences, and braces in it have no meaning.
        places: the settings, commands and options, in the order of the sentence. A string is worded
            the same everywhere.
    """

    text: str
    places: tuple[Place | str, ...]

    def __init__(self, text: str, *places: Place | str) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "places", places)

    def __str__(self) -> str:
        return self.word(str)

    def word(self, word_place: Callable[[Place], str]) -> str:
        """Return the sentence with each place worded by a function."""
        if not self.places:
            return self.text
        words = (place if isinstance(place, str) else word_place(place) for place in self.places)
        first, *others = self.text.split("{}")
        return first + "".join(f"{word}{prose}" for word, prose in zip(words, others, strict=True))


Hint = str | Fix | Sequence[Fix] | None


def make_hint(hint: Hint) -> tuple[Fix, ...]:
    """Return the ways out of an error, which may be given as one sentence, one `Fix` or several."""
    if not hint:
        return ()
    if isinstance(hint, str):
        return (Fix(hint),)
    return (hint,) if isinstance(hint, Fix) else tuple(hint)
