"""The panel "Look after", which lists the findings of a review with their reasons and notes."""

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from ui.panels.index.progress import ProgressBar
from ui.panels.notes.finding import FindingCard
from ui.widgets.buttons import NO_TEXT, ButtonText, IconButton, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.formatting import count, plural
from ui.widgets.geometry import clear_layout, make_scroll_area
from ui.widgets.layouts import make_row, stretch
from ui.widgets.menus import MENU_INSET, MenuButton
from ui.widgets.surfaces import Notice, Pane
from vault.review.findings import FIXED_KINDS, KINDS

if TYPE_CHECKING:
    from app.library.review import ReviewResult
    from vault.review.findings import Finding, FindingKind
    from vault.review.review import ReviewProgress

__all__ = ["ReviewPanel"]

_SHOWN_AT_ONCE = 20
_LOOK_AGAIN = ButtonText("Look again", "Start the review again")
_TITLES = {
    "git_conflict": "Conflicts that Git left",
    "contradiction": "Contradicting figures",
    "front_matter": "Faults in front matter",
    "broken_link": "Links that lead nowhere",
    "broken_embed": "Embeds that show nothing",
    "conflict_copy": "Copies after a conflict",
    "duplicate": "Nearly the same text",
    "same_title": "Notes of one title",
    "overdue": "Overdue tasks",
    "outdated": "Older than a source",
    "draft": "Drafts not touched for a year",
    "orphan": "Notes without links",
}
_WHOLE = ("", "Everywhere", "")
_PROJECT = "project:"
_NO_VAULT = "Choose a folder of notes. What needs care in it appears here."
_WAITING = (
    "Contradicting figures, broken links, copies, overdue tasks, old drafts and other notes that "
    "need care appear here."
)
_NOTHING = "No contradiction, broken link, copy, overdue task or old draft was found."
_NOTHING_HERE = "Nothing of this kind was found here."
_CHANGED = "Your notes have changed since."


class ReviewPanel(Pane):
    """The panel "Look after", which lists the findings of a review.

    Signals:
        looked_at: emitted when the panel becomes visible.
        start_requested, stop_requested: emitted when the user wants to start or stop a review.
        note_chosen: emitted when the user opens a note, with its path and the first and last line
            to show.
        dismiss_requested: emitted with a finding that the user dismisses.
        restore_requested: emitted when the user wants to restore all dismissed findings.
        compare_requested: emitted with a finding whose notes the user wants to compare, and its
            card.
        fix_requested: emitted with a finding that the user wants to fix, and its card.
        filter_changed: emitted when the user chooses another kind or place in the menus.

    Attributes:
        kinds: the menu that limits the list to a kind of findings.
        places: the menu that limits the list to a folder or a project.
    """

    looked_at = Signal()
    start_requested = Signal()
    stop_requested = Signal()
    note_chosen = Signal(str, int, int)
    dismiss_requested = Signal(object)
    restore_requested = Signal()
    compare_requested = Signal(object, object)
    fix_requested = Signal(object, object)
    filter_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self._findings: list[Finding] = []
        self._cards: list[FindingCard] = []
        self._limit = _SHOWN_AT_ONCE
        self._compared: int | None = None
        self._left_out = 0
        self._title = make_wrapped_label("", "ui_strong")
        self.again = IconButton("arrows-clockwise", "Look again", size=24, icon_px=14)
        self.again.clicked.connect(self.start_requested)
        self.stop = IconButton("x", "Stop looking", size=24, icon_px=14)
        self.stop.clicked.connect(self.stop_requested)
        self.kinds = MenuButton("Show")
        self.kinds.set_choices([("", "All kinds", ""), *((k, t, "") for k, t in _TITLES.items())])
        self.places = MenuButton("Look in")
        self._places = [_WHOLE]
        self.places.set_choices(self._places)
        for menu in (self.kinds, self.places):
            menu.chosen.connect(lambda _value: self.filter_changed.emit())
        self._bar = ProgressBar()
        self._text = make_wrapped_label("", "caption", "secondary")
        self._notice = Notice("danger")
        self._dismissed = label("", "caption", "secondary")
        self._restore = make_button(
            ButtonText("Offer them again", "Show the findings that you dismissed"),
            "link",
            self.restore_requested.emit,
        )
        self._more = make_button(NO_TEXT, "link", self._show_more)
        self._lay_out()
        self.show_waiting()

    def show_waiting(self, *, has_vault: bool = True) -> None:
        """Explain what the panel will list, before the first review.

        Args:
            has_vault: whether a vault is open. If not, the text asks the user to choose a folder.
        """
        self._show("Look after your notes", _WAITING if has_vault else _NO_VAULT)
        self.again.setVisible(has_vault)

    def set_places(self, folders: Sequence[str], projects: Sequence[tuple[str, str]]) -> None:
        """Set the folders, and the names and titles of projects, that the list can be limited to.

        If the present choice is not among them, the whole vault is chosen.
        """
        choices = [_WHOLE, *((f"{folder}/", folder, "folder") for folder in folders)]
        choices += [_make_choice(name, title) for name, title in projects]
        if self.places.value not in {value for value, _, _ in choices}:
            self.places.set_value("")
        self._places = choices
        self.places.set_choices(choices)

    def choose_project(self, name: str | None, title: str = "") -> bool:
        """Limit the list to a project, and return whether this is another choice than before.

        Args:
            name: the name of the project. If it is None, a list that is limited to a project is
                limited no more, and one that is limited to a folder stays so.
            title: the title of the project.
        """
        before = self.places.value
        if name is not None:
            choice = _make_choice(name, title)
            if choice[0] not in {value for value, _, _ in self._places}:
                self._places.append(choice)
                self.places.set_choices(self._places)
            self.places.set_value(choice[0])
        elif self.project is not None:
            self.places.set_value("")
        return self.places.value != before

    @property
    def is_limited(self) -> bool:
        """Whether the list is limited to a kind or a place."""
        return bool(self.kinds.value or self.places.value)

    def name_path(self, path: str) -> str:
        """Return the path by which the window opens a note of the list.

        Those of a project outside of the vault are relative to the project.
        """
        project = self.project
        return f"{project}/{path}" if project is not None and os.path.isabs(project) else path

    @property
    def kind_filter(self) -> "frozenset[FindingKind]":
        """The kinds that the list is limited to. If there are none, all are listed."""
        return frozenset(kind for kind in KINDS if kind == self.kinds.value)

    @property
    def folder(self) -> str:
        """The folder that the list is limited to, or an empty string."""
        return "" if self.project is not None else self.places.value

    @property
    def project(self) -> str | None:
        """The name of the project that the list is limited to, or None."""
        value = self.places.value
        return value.removeprefix(_PROJECT) if value.startswith(_PROJECT) else None

    def show_progress(self, progress: "ReviewProgress | None") -> None:
        """Show that a review is running, and its progress if it is known."""
        text = ""
        if progress is not None:
            text = f"{count(progress.notes)} of {count(progress.total)} notes read"
        if progress is not None and progress.is_comparing:
            text = f"Comparing {plural(progress.total, 'note')}"
        if not self._is_busy:
            self._show("Looking through your notes…", text)
            self.stop.show()
            self._pass_focus(self.again, self.stop)
            self.again.hide()
            self._bar.show()
        self._text.setText(text)
        self._text.setVisible(bool(text))
        is_known = progress is not None and progress.total
        self._bar.show_fraction(progress.notes / progress.total if progress and is_known else 0.0)

    def show_result(self, result: "ReviewResult") -> None:
        """Show the findings of a review."""
        self._findings = list(result.findings)
        self._limit = _SHOWN_AT_ONCE
        self._compared, self._left_out = result.notes, result.left_out
        is_waited_for = self.window().focusWidget() is self.stop
        self._show("", "")
        self.show_dismissed(len(result.dismissed))
        self._fill()
        if is_waited_for:
            self._focus_card(0)

    def show_stopped(self, progress: "ReviewProgress | None") -> None:
        """Show that the review was stopped before it was complete.

        Args:
            progress: the progress of the review when it was stopped, or None if it is unknown.
        """
        if progress is None or progress.is_comparing:
            self._show("Stopped", "Nothing was compared to its end.")
        else:
            read = f"{count(progress.notes)} of {count(progress.total)} notes had been read."
            self._show("Stopped", read)

    def show_error(self, message: str, hint: str = "") -> None:
        """Show why the review failed.

        Args:
            message: the error message.
            hint: a sentence that says what the user can do, or an empty string.
        """
        self._show("Look after your notes", "")
        actions = ((_LOOK_AGAIN, self.start_requested.emit),)
        self._notice.show_notice("danger", message, hint, actions)

    def show_changed(self) -> None:
        """Show that notes have changed since the review. The findings stay in the list."""
        if self._findings or self._compared is not None:
            self._changed.show()

    def show_dismissed(self, number: int) -> None:
        """Show the number of dismissed findings, or nothing if it is 0."""
        self._dismissed.setText(f"{count(number)} dismissed")
        self._foot.setVisible(number > 0)

    def remove_finding(self, finding: "Finding") -> int:
        """Remove a finding and return its index, or 0 if it is not listed.

        If the panel has the focus, the next finding gets it.
        """
        if finding not in self._findings:
            return 0
        place = self._findings.index(finding)
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self)
        del self._findings[place]
        self._fill()
        if had_focus:
            self._focus_card(place)
        return place

    def insert_finding(self, finding: "Finding", index: int) -> None:
        """Insert a finding that was removed, at the index that `remove_finding` returned."""
        self._findings.insert(min(index, len(self._findings)), finding)
        self._limit = max(self._limit, index + 1)
        self._fill()

    def list_findings(self) -> "Sequence[Finding]":
        """Return all findings that have not been dismissed, including those without a card."""
        return tuple(self._findings)

    def list_cards(self) -> Sequence[FindingCard]:
        """Return the cards of the findings that are shown."""
        return tuple(self._cards)

    def take_focus(self) -> None:
        """Focus the finding whose change waits for an answer, or else the first one.

        If there are no findings, focus the button in the header.
        """
        self._focus_card(next((n for n, card in enumerate(self._cards) if card.is_asking), 0))

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `looked_at` when the panel becomes visible, so that the first review can start."""
        super().showEvent(event)
        self.looked_at.emit()

    @property
    def _is_busy(self) -> bool:
        return not self.stop.isHidden()

    def _show(self, title: str, text: str) -> None:
        """Show a title and a text, and remove all findings unless the title is empty."""
        self._title.setText(title)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self.again.show()
        self._pass_focus(self.stop, self.again)
        for part in (self.stop, self._bar, self._notice, self._changed, self._foot):
            part.hide()
        if title:
            self._findings, self._compared = [], None
            self._fill_cards()

    def _pass_focus(self, hidden: QWidget, shown: QWidget) -> None:
        """Move the focus from a button that will be hidden to the button that replaces it.

        Otherwise, Qt would move the focus out of the panel.
        """
        if self.window().focusWidget() is hidden:
            shown.setFocus(Qt.FocusReason.OtherFocusReason)

    def _fill(self) -> None:
        """Show the number of findings and their cards, or a message if there are no findings."""
        number = len(self._findings)
        compared = f"{plural(self._compared or 0, 'note')} compared, by rules and without a model."
        if number:
            self._title.setText(f"{plural(number, 'thing')} to look at")
            more = f" {count(self._left_out)} more are left out; choose a kind or a folder above."
            self._text.setText(f"{compared}{more if self._left_out else ''}")
        else:
            self._title.setText("Nothing found")
            nothing = _NOTHING_HERE if self.is_limited else _NOTHING
            self._text.setText(f"{nothing} {compared}")
        self._text.show()
        self._fill_cards()

    def _fill_cards(self) -> None:
        """Create the cards of the findings, with a heading above the findings of each kind."""
        clear_layout(self._list)
        self._cards = []
        kind = ""
        for finding in self._findings[: self._limit]:
            if finding.kind != kind:
                kind = finding.kind
                head = label(_TITLES[kind], "label", "secondary")
                head.setContentsMargins(16, 12, 16, 4)
                self._list.addWidget(head)
            card = FindingCard(finding, can_fix=finding.kind in FIXED_KINDS)
            card.compare_requested.connect(partial(self.compare_requested.emit, finding, card))
            card.fix_requested.connect(partial(self.fix_requested.emit, finding, card))
            card.note_chosen.connect(self.note_chosen)
            card.dismissed.connect(partial(self.dismiss_requested.emit, finding))
            self._list.addWidget(card)
            card.show()  # a layout shows it later, and until then it has no height
            self._cards.append(card)
        left = len(self._findings) - len(self._cards)
        label_text = f"Show {count(min(left, _SHOWN_AT_ONCE))} more"
        self._more.set_text(ButtonText(label_text, "Show the next rows of the list"))
        self._more.setVisible(left > 0)

    def _show_more(self) -> None:
        place = len(self._cards)
        self._limit += _SHOWN_AT_ONCE
        self._fill_cards()
        self._focus_card(place)

    def _focus_card(self, place: int) -> None:
        """Focus the card at an index, or the last card if there are fewer cards.

        If there are no cards, focus the button in the header.
        """
        if self._cards:
            self._cards[min(place, len(self._cards) - 1)].take_focus()
        else:
            (self.stop if self._is_busy else self.again).setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self) -> None:
        # Qt restyles everything below a widget that gets a parent, so the outer widgets come first.
        content = Pane("panel")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(make_scroll_area(content))
        head = QHBoxLayout()
        head.setContentsMargins(16, 8, 12, 0)
        head.addWidget(self._title, 1)
        head.addWidget(self.again, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignTop)
        edge = 16 - MENU_INSET
        menus = make_row(self.kinds, self.places, stretch(), margins=(edge, 0, 12, 0), spacing=4)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.setContentsMargins(16, 4, 16, 8)
        self._changed = make_wrapped_label(_CHANGED, "caption", "amber")
        for part in (self._bar, self._text, self._changed, self._notice):
            texts.addWidget(part)
        column = QVBoxLayout(content)
        column.setSpacing(0)
        column.setContentsMargins(0, 0, 0, 8)
        column.addLayout(head)
        column.addLayout(menus)
        column.addLayout(texts)
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        column.addLayout(self._list)
        row = QHBoxLayout()
        row.setContentsMargins(16, 8, 16, 0)
        row.addWidget(self._more)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self._make_foot())
        column.addStretch(1)

    def _make_foot(self) -> QWidget:
        self._foot = QWidget()
        row = QHBoxLayout(self._foot)
        row.setContentsMargins(16, 8, 16, 0)
        row.addWidget(self._dismissed)
        row.addWidget(self._restore)
        row.addStretch(1)
        return self._foot


def _make_choice(project: str, title: str) -> tuple[str, str, str]:
    return f"{_PROJECT}{project}", title, "project"
