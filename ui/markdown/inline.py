"""From the parser's inline tokens to runs of text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import unquote

from markdown_it.token import Token

from ui.markdown.blocks import Run, Style
from ui.markdown.links import NOTE, allowed_link, parse_host

__all__ = ["BREAK", "Picture", "pictures_only", "read_inline", "split_first_line"]

BREAK = "\N{LINE SEPARATOR}"
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".avif")
_DIGITS = re.compile(r"\d+")
_OPENS = {"strong_open": Style.BOLD, "em_open": Style.ITALIC, "s_open": Style.STRIKE}
_CLOSES = {"strong_close": Style.BOLD, "em_close": Style.ITALIC, "s_close": Style.STRIKE}

Picture = tuple[str, str, str]


def read_inline(tokens: Sequence[Token]) -> tuple[Run, ...]:
    """Return the runs of a paragraph's, a heading's or a cell's tokens."""
    runs: list[Run] = []
    style, link = Style.NONE, ""
    for token in tokens:
        if token.type in _OPENS:
            style |= _OPENS[token.type]
        elif token.type in _CLOSES:
            style &= ~_CLOSES[token.type]
        elif token.type == "link_open":
            link = allowed_link(str(token.attrGet("href") or ""))
        elif token.type == "link_close":
            link = ""
        else:
            runs.extend(_leaf_runs(token, style, link))
    return _join(runs)


def pictures_only(tokens: Sequence[Token]) -> list[Picture]:
    """Return place, description and link of each image where there is nothing else, else none."""
    shown = [token for token in tokens if not _is_space(token)]
    pictures = [token for token in shown if _is_picture(token)]
    return [_picture(token) for token in pictures] if len(pictures) == len(shown) else []


def split_first_line(runs: tuple[Run, ...]) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Return what stands before the first line break, and what stands after it."""
    for index, run in enumerate(runs):
        if BREAK in run.text:
            before, after = run.text.split(BREAK, 1)
            head = (*runs[:index], replace(run, text=before))
            tail = (replace(run, text=after), *runs[index + 1 :])
            return _join(head), _join(tail)
    return runs, ()


def _leaf_runs(token: Token, style: Style, link: str) -> list[Run]:
    match token.type:
        case "softbreak" | "hardbreak":
            # A single new line breaks, as in Obsidian: who writes one means it.
            return [Run(BREAK, style, link)]
        case "code_inline":
            return [Run(token.content, style | Style.CODE, link)]
        case "math_inline" | "math_inline_double":
            return [Run(token.content, style | Style.TEX, link)]
        case "citation":
            numbers = tuple(int(number) for number in _DIGITS.findall(token.content))
            return [Run(token.content, cites=numbers)]
        case "footnote_ref":
            return [Run(str(token.meta["label"]), style | Style.RAISED)]
        case "wikilink":
            return [Run(token.info or _note_words(token.content), style, NOTE + token.content)]
        case "image" | "embed":
            return _embed_runs(token, style)
    return [Run(token.content, style, link)]


def _embed_runs(token: Token, style: Style) -> list[Run]:
    if not _is_picture(token):
        return [Run(token.info or _note_words(token.content), style, NOTE + token.content)]
    where, _alt, link = _picture(token)
    return [Run(f"Image not loaded: {where}", style | Style.ITALIC, link)]


def _is_picture(token: Token) -> bool:
    if token.type == "embed":
        return token.content.lower().endswith(_PICTURES)
    return token.type == "image"


def _is_space(token: Token) -> bool:
    return token.type in {"softbreak", "hardbreak"} or (
        token.type == "text" and not token.content.strip()
    )


def _picture(token: Token) -> Picture:
    if token.type == "embed":
        return token.content, token.info, ""
    source = str(token.attrGet("src") or "")
    link = allowed_link(source)
    host = parse_host(source)
    name = "part of the text" if source.startswith("data:") else source.rsplit("/", 1)[-1]
    return host or unquote(name), token.content, link if host else ""


def _note_words(target: str) -> str:
    return target.strip("#").replace("#", " › ")


def _join(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Make one of neighbours that look the same, so that the same text is always the same runs."""
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
