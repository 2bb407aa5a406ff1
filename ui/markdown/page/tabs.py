"""Tabs within a text: the row of names, and the page that is chosen, such as a view of a base.

A row of tabs is identified by its place in the document, and a tab by its name, because what a note
embeds is read again when notes change.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ui.markdown.blocks import Leaf, Paragraph, Run, Style, TabbedPages, TabPage
from ui.markdown.embeds import renew_boxes
from ui.markdown.inline import TAB
from ui.widgets.texts import END_ISOLATE, ISOLATE, has_rtl

__all__ = ["choose_tab", "draw_tabs", "find_neighbour", "write_tab_hints"]

_GAP: Final = Run(" \N{EN SPACE}")
_BLANK: Final = "\N{NO-BREAK SPACE}"


def draw_tabs(tabs: TabbedPages, place: str, chosen: set[str]) -> Iterator[Leaf]:
    """Yield the row of tabs, and the leaves of the chosen page, which is the first one at first.

    Args:
        tabs: the pages.
        place: identifies the row of tabs in the document.
        chosen: the addresses of the tabs that the user has chosen.
    """
    shown = _find_chosen(tabs, place, chosen)
    runs = list[Run]()
    for page in tabs.pages:
        style = Style.SAME | (Style.BOLD | Style.CHOSEN if page is shown else Style.QUIET)
        name = f"{ISOLATE}{page.name}{END_ISOLATE}" if has_rtl(page.name) else page.name
        text = _BLANK.join(filter(None, (name, page.detail)))
        runs += [_GAP] if runs else []
        runs.append(Run(text, style, _make_address(place, page)))
    yield Paragraph(tuple(runs), tabs.boxes, line=tabs.line)
    keys: dict[int, int] = {}
    for leaf in shown.leaves:
        yield replace(leaf, boxes=(*tabs.boxes, *renew_boxes(leaf.boxes, keys)), line=0)


def write_tab_hints(tabs: TabbedPages, place: str, chosen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the address of each tab, and what a click on it does.

    The arguments are those of `draw_tabs`.
    """
    shown = _find_chosen(tabs, place, chosen)
    for page in tabs.pages:
        text = ", ".join(filter(None, (page.name, page.detail)))
        hint = f"{text} is shown" if page is shown else f"Show {text}"
        yield _make_address(place, page), hint


def choose_tab(address: str, chosen: set[str]) -> None:
    """Replace the chosen tab of a row."""
    row = _find_row(address)
    chosen -= {one for one in chosen if one.startswith(row)}
    chosen.add(address)


def find_neighbour(address: str, step: int, known: Iterable[str]) -> str:
    """Return the address of the next or previous tab of a row, or `address` if there is none.

    Args:
        address: the tab.
        step: 1 for the next tab, and -1 for the previous one.
        known: the addresses of all tabs of the document, in order.
    """
    tabs = [one for one in known if one.startswith(_find_row(address))]
    place = tabs.index(address) + step
    return tabs[max(0, min(place, len(tabs) - 1))]


def _find_chosen(tabs: TabbedPages, place: str, chosen: set[str]) -> TabPage:
    wanted = (page for page in tabs.pages if _make_address(place, page) in chosen)
    return next(wanted, tabs.pages[0])


def _make_address(place: str, page: TabPage) -> str:
    return f"{TAB}{place} {page.name}"


def _find_row(address: str) -> str:
    """Return what the addresses of all tabs of a row begin with."""
    return f"{address.partition(' ')[0]} "
