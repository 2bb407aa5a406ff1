"""What of a document is hidden until it is opened: folded callouts, and pages behind tabs.

A callout is identified by its title and occurrence, because its text is parsed again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ui.markdown.blocks import Leaf, Paragraph, Run, Style, TabbedPages, plain
from ui.markdown.inline import CALLOUT, TAB
from ui.markdown.page.tabs import choose_tab, draw_tabs, write_tab_hints

__all__ = ["Folds", "FoldsState"]

_OPEN: Final = "▾"
_FOLDED: Final = "▸"


@dataclass(frozen=True, slots=True)
class FoldsState:
    """What is known at a place in the text.

    Attributes:
        hidden: the keys of the boxes that are folded.
        seen: how many titles of each text there are above.
        embeds: the number of embedded notes, bases and queries above.
    """

    hidden: frozenset[int]
    seen: Counter[str]
    embeds: int


class Folds:
    """Hides what is folded while a document is written, and makes the titles links.

    Attributes:
        toggled: the addresses of the callouts that the user has folded or opened, and of the tabs
            that the user has chosen.
        hints: what a click on each title or tab does, by its address.
    """

    def __init__(self) -> None:
        self.toggled: set[str] = set()
        self.hints: dict[str, str] = {}
        self._hidden: set[int] = set()
        self._seen: Counter[str] = Counter()
        self._embeds = self._rows_of_tabs = 0
        self._kept = self.copy_state()

    def toggle(self, address: str) -> None:
        """Fold a callout, or open it if it is folded, or choose a tab."""
        if address.startswith(TAB):
            choose_tab(address, self.toggled)
        else:
            self.toggled ^= {address}

    def begin_embed(self) -> None:
        """Count an embedded note, base or query, by whose number its tabs are known."""
        self._embeds, self._rows_of_tabs = self._embeds + 1, 0

    def open_page(self, leaf: Leaf) -> Iterator[Leaf]:
        """Yield the row of tabs and the text of the chosen one, or a leaf of another kind as is."""
        if not isinstance(leaf, TabbedPages):
            yield leaf
            return
        self._rows_of_tabs += 1
        place = f"{self._embeds}.{self._rows_of_tabs}"
        self.hints.update(write_tab_hints(leaf, place, self.toggled))
        yield from draw_tabs(leaf, place, self.toggled)

    def begin_tail(self) -> None:
        """Remember the state at the end of the final text. The rest is written again."""
        self._kept = self.copy_state()

    def end_tail(self) -> None:
        """Go back to the state at the end of the final text."""
        self.restore_state(self._kept)

    def copy_state(self) -> FoldsState:
        """Return what is known of the text so far, to write what follows once more."""
        return FoldsState(frozenset(self._hidden), Counter(self._seen), self._embeds)

    def restore_state(self, state: FoldsState) -> None:
        """Go back to a place in the text."""
        self._hidden, self._seen = set(state.hidden), Counter(state.seen)
        self._embeds = state.embeds

    def apply(self, leaf: Leaf) -> Leaf | None:
        """Return the leaf to write, with a link if it is a title, or None if it is folded.

        A title that stands in a folded callout is folded too, and so is what is below it.

        Args:
            leaf: the next leaf of the document.
        """
        is_title = isinstance(leaf, Paragraph) and leaf.is_title and bool(leaf.boxes[-1].fold)
        around = leaf.boxes[:-1] if is_title else leaf.boxes
        if any(box.key in self._hidden for box in around):
            if is_title:  # what is inside is folded too
                self._hidden.add(leaf.boxes[-1].key)
            return None
        if not (is_title and isinstance(leaf, Paragraph)):
            return leaf
        title = plain(leaf.runs)
        self._seen[title] += 1
        address = f"{CALLOUT}{self._seen[title]} {title}"
        is_folded = (leaf.boxes[-1].fold == "-") ^ (address in self.toggled)
        if is_folded:
            self._hidden.add(leaf.boxes[-1].key)
        self.hints[address] = f"{'Show' if is_folded else 'Hide'} what is below this title"
        return replace(leaf, runs=_link(leaf.runs, address, is_folded=is_folded))


def _link(runs: Iterable[Run], address: str, *, is_folded: bool) -> tuple[Run, ...]:
    """Make a title a link, except for the links in it, and add the mark of a fold."""
    mark = f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{_FOLDED if is_folded else _OPEN}"
    linked = [
        run if run.link else replace(run, style=run.style | Style.SAME, link=address)
        for run in runs
    ]
    if linked and linked[-1].link == address:
        linked[-1] = replace(linked[-1], text=linked[-1].text + mark)
    else:
        linked.append(Run(mark, Style.SAME, address))
    return tuple(linked)
