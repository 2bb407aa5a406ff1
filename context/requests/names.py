"""Leave out of a kept request the names of notes that models may not read now."""

import html
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["NAMELESS_LINE", "hide_names"]

NAMELESS_LINE: Final = "[a note that is now excluded]"
# What a link escapes (RFC 3986, 2.3); `urllib` does no more, but opens the network.
_NOT_IN_LINKS: Final = re.compile(r"[^A-Za-z0-9_.~/-]")


def hide_names(
    body: Mapping[str, Any],
    gone: Collection[str],
    known: Collection[str],
    typed: Collection[str],
) -> dict[str, Any]:
    """Return the body of a request without the names of some notes.

    An image of which only a notice is left is cut out, since it is no image.

    Args:
        body: the body, as JSON that does not depend on the provider.
        gone: the paths of the notes.
        known: the paths of other notes, whose names stay even if they contain such a name.
        typed: the texts that the user typed, which stay as they are.
    """
    hider = _NameHider.build(gone, known, typed)
    shown = {**body, "system": hider.hide(body["system"])}
    return {**shown, "messages": [hider.hide(_cut_images(one)) for one in body["messages"]]}


def _cut_images(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(message["content"], str):
        return message
    kept = [part for part in message["content"] if not _is_gone_image(part)]
    return {**message, "content": kept}


def _is_gone_image(part: Mapping[str, Any]) -> bool:
    return part["type"] == "image" and "[" in part["data"]  # a notice, as it is not in base64


@dataclass(frozen=True)
class _NameHider:
    """Leaves names out of JSON values.

    Attributes:
        names: finds names of notes, also of those that stay.
        gone: the names that are left out, in lower case.
        stems: those of whole strings, such as the arguments of a call.
        typed: the texts that stay as they are.
    """

    names: re.Pattern[str] | None
    gone: frozenset[str]
    stems: frozenset[str]
    typed: frozenset[str]

    @classmethod
    def build(
        cls, gone: Collection[str], known: Collection[str], typed: Collection[str]
    ) -> "_NameHider":
        """Build it for the paths of the notes whose names go, and of those whose names stay."""
        kept = {path.casefold() for path in set(known) - set(gone)}
        hidden = frozenset(name for path in gone for name in _list_names(path)) - kept
        stems = frozenset(_read_stem(path) for path in gone) - {_read_stem(one) for one in kept}
        found = [re.escape(name) for name in sorted(hidden | kept, key=len, reverse=True)]
        links = [rf"(?<=\[\[){re.escape(stem)}(?=[\]|#^])" for stem in sorted(stems)]
        pattern = rf"(?<![\w/\\])(?:{'|'.join(found)})(?!\w)|{'|'.join(links) or '(?!)'}"
        names = re.compile(pattern, re.IGNORECASE) if gone else None
        return cls(names, hidden | stems, stems, frozenset(typed))

    def hide(self, value: Any) -> Any:
        """Return a JSON value without the names."""
        if isinstance(value, str):
            return self._hide_text(value)
        if isinstance(value, Mapping):
            return {name: self.hide(item) for name, item in value.items()}
        return [self.hide(item) for item in value] if isinstance(value, list | tuple) else value

    def _hide_text(self, text: str) -> str:
        if self.names is None or text in self.typed:
            return text
        if text.strip().casefold() in self.stems:
            return NAMELESS_LINE
        return self.names.sub(self._replace, text)

    def _replace(self, found: re.Match[str]) -> str:
        return NAMELESS_LINE if found[0].casefold() in self.gone else found[0]


def _list_names(path: str) -> Iterator[str]:
    """Yield what a text may call a note, in lower case."""
    for name in (path, posixpath.basename(path)):
        yield from (form.casefold() for form in (name, html.escape(name), _quote(name)))


def _read_stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0].casefold()


def _quote(name: str) -> str:
    """Return a name as it stands in a link, with percent escapes."""
    return _NOT_IN_LINKS.sub(
        lambda found: "".join(f"%{byte:02x}" for byte in found[0].encode(errors="surrogatepass")),
        name,
    )
