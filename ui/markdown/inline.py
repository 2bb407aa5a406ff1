"""Convert the parser's inline tokens to runs of text, and check link addresses."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

from ui.markdown.blocks import Embed, Missing, Run, Style
from vault.notes.links import split_link_target

__all__ = [
    "BREAK",
    "CALLOUT",
    "FOLD",
    "FOOTNOTE",
    "FOOTNOTE_MARK",
    "INNER_BREAK",
    "MORE",
    "NOTE",
    "SECTION",
    "TAB",
    "TAG",
    "TASK",
    "check_link",
    "cut_embeds",
    "describe_target",
    "find_counterpart",
    "is_file_address",
    "parse_host",
    "read_inline",
]

NOTE = "note:"
TAG = "tag:"
# A link that only Strata itself makes: to a task in another note.
TASK = "task:"
# Links that only Strata itself makes: to folded lines, and to the section below a title.
FOLD = "fold:"
SECTION = "section:"
# From the mark of a footnote to its text and back, and to a callout that is folded or opened.
FOOTNOTE = "footnote:"
FOOTNOTE_MARK = "footnote-mark:"
CALLOUT = "callout:"
# To a tab, and to more rows of a base or query.
TAB = "tab:"
MORE = "more:"
_PAGE = re.compile(r"(?:^|&)page=(\d+)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
# A file of this computer, by its full path. One of another computer would tell it who asks.
_FILE = re.compile(r"(?i)file://(?:localhost)?/(?![/\\]|%2f|%5c).+")
_UNSAFE = re.compile(r"[\x00-\x20\x7f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# One address, and at most a subject: other fields could add recipients, a text or an attachment.
_MAIL = re.compile(r"(?i)mailto:[^@?&,;:#%\\/]+@[^@?&,;:#%\\/]+(?:\?subject=(?P<subject>[^&#]*))?")
BREAK = "\N{LINE SEPARATOR}"
# A line break that the tag `<br>` makes within a source line. The sign before it is not visible.
INNER_BREAK = f"\N{WORD JOINER}{BREAK}"
_PICTURES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp"),
    *(".avif", ".heic", ".heif", ".tif", ".tiff"),
)
_NOTES = (".md", ".markdown", ".pdf", ".canvas", ".excalidraw", ".base")
_DIGITS = re.compile(r"\d+")
_STYLES = {
    "strong": Style.BOLD,
    "em": Style.ITALIC,
    "s": Style.STRIKE,
    "mark": Style.MARK,
    "aside": Style.QUIET,
}
_OPENS = {f"{name}_open": style for name, style in _STYLES.items()}
_CLOSES = {f"{name}_close": style for name, style in _STYLES.items()}


def check_link(address: str) -> str:
    """Return the address that a click on a link reports, or an empty string if it is not allowed.

    Args:
        address: the address as written in Markdown. Without a scheme, it is the name of a note.

    Returns:
        An `http:` or `https:` address without user name and password, a `mailto:` address with at
        most a subject, or a note as `note:path#heading`.
    """
    if _UNSAFE.search(address) or address.startswith(("//", "\\")):
        return ""
    scheme = _SCHEME.match(address)
    if scheme is None:
        return NOTE + unquote(address) if address else ""
    return address if _is_plain_web(address) or _is_plain_mail(address) else ""


def is_file_address(address: str) -> bool:
    """Return whether an address is that of a file on this computer, which only notes link to."""
    return _FILE.fullmatch(address) is not None


def parse_host(address: str) -> str:
    """Return the host of a web address, or an empty string if it has none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return parts.hostname or "" if parts.scheme in {"http", "https"} else ""


def _is_plain_web(address: str) -> bool:
    """Return whether an address is a web address with a host that cannot mislead the reader.

    For example, a user name before an `@` can look like the host, so such an address is not
    allowed.
    """
    if "\\" in address or not parse_host(address):  # browsers read a backslash as a slash
        return False
    host = urlsplit(address).netloc
    return "@" not in host and "%" not in host


def _is_plain_mail(address: str) -> bool:
    """Return whether an email address has one recipient and at most a one-line subject."""
    found = _MAIL.fullmatch(address)
    return found is not None and not _CONTROL.search(unquote(found["subject"] or ""))


def read_inline(tokens: Sequence[Token]) -> tuple[Run, ...]:
    """Convert the inline tokens of a paragraph, heading or table cell to styled runs of text."""
    runs: list[Run] = []
    style, link = Style.NONE, ""
    for token in tokens:
        if token.type in _OPENS:
            style |= _OPENS[token.type]
        elif token.type in _CLOSES:
            style &= ~_CLOSES[token.type]
        elif token.type == "link_open":
            address = str(token.attrGet("href") or "")
            link = address if is_file_address(address) else check_link(address)
        elif token.type == "link_close":
            link = ""
        else:
            runs.extend(_leaf_runs(token, style, link))
    return _join(runs)


def cut_embeds(
    tokens: Sequence[Token],
) -> Iterator[tuple[Sequence[Token] | Missing | Embed, int]]:
    """Cut the tokens of a paragraph at the images and notes that are shown in place.

    An image from the web is not shown, so it is cut out only where it stands alone, and so is an
    image that is a link.

    Yields:
        Text, an image or an embedded note, each with the number of line breaks before it.
    """
    is_alone = all(_is_space(token) or _is_embed(token) for token in tokens)
    text: list[Token] = []
    depth = breaks = before = 0
    for token in tokens:
        depth += token.nesting
        if not depth and _is_embed(token) and (is_alone or _find_local(token)):
            if text := _strip(text):
                yield text, before
            yield _read_embed(token), breaks
            text, before = [], breaks
        else:
            if not text and _is_break(token):
                before += 1
            text.append(token)
        breaks += _is_break(token)
    if (text := _strip(text)) or not tokens:
        yield text, before


def _strip(tokens: list[Token]) -> list[Token]:
    """Return the tokens of a text without the space at both ends."""
    while tokens and _is_space(tokens[0]):
        del tokens[0]
    while tokens and _is_space(tokens[-1]):
        del tokens[-1]
    return tokens


def _read_embed(token: Token) -> Missing | Embed:
    return _picture(token) if _is_picture(token) else Embed(_find_local(token))


def _find_local(token: Token) -> str:
    """Return the name or path of an embedded file as written, or "" if it is on the web."""
    return token.content if token.type == "embed" else _picture(token).source


def _leaf_runs(token: Token, style: Style, link: str) -> list[Run]:
    match token.type:
        case "softbreak" | "hardbreak":
            # A single newline is a line break, as in Obsidian.
            return [Run(BREAK, style, link)]
        case "line_break":
            return [Run(INNER_BREAK, style, link)]
        case "code_inline":
            return [Run(token.content, style | Style.CODE, link)]
        case "math_inline" | "math_inline_double":
            return [Run(token.content, style | Style.TEX, link)]
        case "field" | "citation" | "footnote_ref":
            return _read_mark(token, style)
        case "wikilink":
            link = NOTE + token.content
            return [Run(token.info or describe_target(token.content), style, link)]
        case "tag":
            link = TAG + token.content.removeprefix("#")
        case "image" | "embed":
            return _embed_runs(token, style, link)
    return [Run(token.content, style, link)]


def _read_mark(token: Token, style: Style) -> list[Run]:
    """Return the runs of a citation, the mark of a footnote, or the name of a field."""
    match token.type:
        case "citation":
            numbers = tuple(int(number) for number in _DIGITS.findall(token.content))
            return [Run(token.content, cites=numbers)]
        case "footnote_ref":
            label = str(token.meta["label"])
            return [Run(label, style | Style.RAISED, FOOTNOTE + label)]
        case _:
            return [Run(token.content, style | Style.QUIET), Run("  ", style)]


def _embed_runs(token: Token, style: Style, link: str) -> list[Run]:
    """Return the runs of text that replace an embedded note, or an image within a line of text.

    An image inside a link gets the link's address. Any other image links to the image itself.

    Args:
        token: the parser's token for the embedded note or image.
        style: the style of the surrounding text.
        link: the address of the surrounding link, or an empty string.
    """
    if not _is_picture(token):
        target = _find_local(token)
        return [Run(token.info or describe_target(target), style, NOTE + target)]
    image = _picture(token)
    own = image.link or (NOTE + image.source if image.source else "")
    text = f"Image: {image.where}" if image.source else f"Image not loaded: {image.where}"
    return [Run(text, style | Style.ITALIC, link or own)]


def _is_embed(token: Token) -> bool:
    return token.type in {"embed", "image"}


def _is_picture(token: Token) -> bool:
    if token.type == "embed":
        return token.content.lower().endswith(_PICTURES)
    if token.type != "image":
        return False
    return not _picture(token).source.partition("#")[0].lower().endswith(_NOTES)


def _is_break(token: Token) -> bool:
    return token.type in {"softbreak", "hardbreak"}


def _is_space(token: Token) -> bool:
    return token.type in {"softbreak", "hardbreak", "line_break"} or (
        token.type == "text" and not token.content.strip()
    )


def _picture(token: Token) -> Missing:
    if token.type == "embed":
        return Missing(token.content, token.info, "", source=token.content)
    source = str(token.attrGet("src") or "")
    link = check_link(source)
    host = parse_host(source)
    name = "part of the text" if source.startswith("data:") else source.rsplit("/", 1)[-1]
    is_local = not host and not _SCHEME.match(source) and not source.startswith("//")
    local = unquote(source) if is_local else ""
    return Missing(host or unquote(name), token.content, link if host else "", source=local)


def find_counterpart(address: str) -> str:
    """Return the address of a footnote's text by that of its mark, or the reverse, or ""."""
    if address.startswith(FOOTNOTE):
        return FOOTNOTE_MARK + address.removeprefix(FOOTNOTE)
    if address.startswith(FOOTNOTE_MARK):
        return FOOTNOTE + address.removeprefix(FOOTNOTE_MARK)
    return ""


def describe_target(target: str) -> str:
    """Return the text to show for a link without its own text, such as `Pump.pdf › page 7`."""
    name, place = split_link_target(target.lstrip("#"))
    if name.lower().endswith(".pdf"):  # what else follows says how it is shown in Obsidian
        page = _PAGE.search(place)
        return f"{name} › page {page[1]}" if page else name
    return " › ".join((name, *filter(None, place.split("#")))) if place else name


def _join(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Merge adjacent runs of text that have the same style."""
    joined: list[Run] = []
    for run in runs:
        if not run.text:
            continue
        last = joined[-1] if joined else None
        if last and not run.cites and not last.cites and replace(run, text=last.text) == last:
            joined[-1] = replace(last, text=last.text + run.text)
        else:
            joined.append(run)
    return tuple(joined)
