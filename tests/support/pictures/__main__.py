"""Pictures of the window, to be made again whenever it has changed.

`python -m tests.support.pictures` makes the pictures of the README and of the guide.
`python -m tests.support.pictures FOLDER [GROUP…] [SIZE…]` saves pictures there of all states, or of
the named groups and sizes: light and dark, narrow and wide, in Latin, Japanese and Arabic script.

The pictures show the real program with the sample notes; only the model is scripted.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtWidgets import QApplication

from chains.cancel import CancelToken
from resources import locate_resource, sample_vault
from tests.support.pictures.dialog_pictures import (
    SHELVES,
    judge_all,
    leave_out_source,
    look_at_price,
    open_judging,
    open_past,
    open_rehearsal,
    show_compaction,
    show_compare,
    show_judge,
    show_keys,
    show_quick_ask,
    show_rehearsal,
    show_settings,
    unfold_claims,
    unfold_exam,
)
from tests.support.pictures.error_pictures import (
    show_approvals,
    show_errors,
    show_overflow,
    show_waiting,
)
from tests.support.pictures.gallery import Group, take
from tests.support.pictures.note_pictures import (
    show_bin,
    show_crash,
    show_lists,
    show_menus,
    show_notes,
    show_sidebar,
    show_toasts,
)
from tests.support.pictures.panel_pictures import make_panels
from tests.support.pictures.picture_states import (
    open_layer,
    show_agent,
    show_answers,
    show_chips,
    show_commands,
    show_instructions,
    show_request,
    show_shelf,
    show_versions,
)
from tests.support.pictures.review_pictures import show_review
from tests.support.pictures.sample_window import BACKUPS, POWER, Stage, save, stage
from tests.support.pictures.start_pictures import (
    show_bare,
    show_first_run,
    show_mirrored,
    show_starts,
)
from tests.support.vaults.documents import pdf
from ui.icons import load_app_icon
from ui.theme import Theme

README_PICTURE = "Attachments/window.png"
JUDGE_PICTURE = "Attachments/judging.png"
REHEARSAL_PICTURE = "Attachments/rehearsal.png"
CLAIMS_PICTURE = "Attachments/claims.png"
PAST_PICTURE = "Attachments/then-and-today.png"
EXAM_PICTURE = "Attachments/lost-facts.png"
SIZES = ("narrow", "medium", "wide")
GROUPS: dict[str, Group] = {
    "answers": show_answers,
    "bare": show_bare,
    "waiting": show_waiting,
    "errors": show_errors,
    "overflow": show_overflow,
    "approvals": show_approvals,
    "agent": show_agent,
    "chips": show_chips,
    "versions": show_versions,
    "commands": show_commands,
    "instructions": show_instructions,
    "notes": show_notes,
    "shelf": show_shelf,
    "lists": show_lists,
    "menus": show_menus,
    "sidebar": show_sidebar,
    "bin": show_bin,
    "toasts": show_toasts,
    "crash": show_crash,
    "settings": show_settings,
    "keys": show_keys,
    "request": show_request,
    "compare": show_compare,
    "judge": show_judge,
    "rehearsal": show_rehearsal,
    "compaction": show_compaction,
    "quick": show_quick_ask,
    "first": show_first_run,
    "starts": show_starts,
    "mirrored": show_mirrored,
    "review": show_review,
}
_SCREEN = '{"screens": [{"name": "s", "x": 0, "y": 0, "width": 1920, "height": 1080, "dpr": 1,\
 "logicalDpi": 96, "logicalBaseDpi": 96}]}'
_FORMATS = """\
# All formats

Body text with *emphasis*, **weight**, `code`, ~~struck~~, ==marked==, a #tag and [[Home server]].

## A wide table

| Device | Bought | Price | Power | Where it stands, and what for | Who looks after it |
|---|---|--:|--:|---|---|
| Server | 2024-03-01 | 412.50 | 31 W | In the cellar, for notes, photos and the calendar | Ines |
| Battery | 2025-11-12 | 1,088.00 | 3 W | Below the server, for 22 minutes without mains | Mira |

> [!tip] A callout
> With a sentence in it.

> A quotation of somebody, who said it in two lines, of which this is the longer one.
> The other.

```python
def water(beds: list[str], litres: float) -> dict[str, float]:  # of all the beds there are
    return {bed: litres / len(beds) for bed in beds}
```

1. First
   - nested
2. Second
- [ ] open task
- [x] done task

![[Plan.png]]

![remote](https://www.example.org/picture.png)

$$E = mc^2$$
"""


def make_readme_picture(on: Stage) -> None:
    """Save the picture for the README."""
    on.show("light", "usual")
    on.play(POWER)
    on.go_on(BACKUPS)
    open_layer(on, 4)
    save(on.window, locate_resource("vault") / README_PICTURE)


def make_guide_pictures(on: Stage) -> None:
    """Save the pictures of the guide."""
    vault = locate_resource("vault")
    rehearsal = open_rehearsal(on)
    leave_out_source(rehearsal)
    save(rehearsal, vault / REHEARSAL_PICTURE)
    rehearsal.close()
    judging = open_judging(on)
    look_at_price(judging)
    judge_all(on, judging)
    save(judging, vault / JUDGE_PICTURE)
    judging.close()


def make_proof_pictures(on: Stage, vault: Path) -> None:
    """Save the guide's pictures of claims, of a request of then and today, and of lost facts.

    Args:
        vault: a copy of the sample notes, of which one is changed, and one is added.
    """
    guide = locate_resource("vault")
    on.show("light", "usual")
    save(unfold_claims(on), guide / CLAIMS_PICTURE)
    note = vault / "Examples/Home server.md"
    note.write_text(note.read_text("utf-8").replace("night at 02:30", "night at 03:15"), "utf-8")
    shelves = "\n".join(("# Shelves", "", *SHELVES[:3], ""))
    (vault / "Shelves.md").write_text(shelves, "utf-8")
    list(on.assistant.index(CancelToken()))
    past = open_past(on)
    save(past, guide / PAST_PICTURE)
    past.close()
    save(unfold_exam(on), guide / EXAM_PICTURE)


def make_all(folder: Path, names: list[str]) -> None:
    """Save pictures of the states of the named groups, or of all groups."""
    with _copy_vault() as vault, stage(vault) as on:
        on.play(BACKUPS)
        chosen = [group for name, group in GROUPS.items() if name in names]
        sizes = [size for size in SIZES if size in names]
        print(take(on, chosen or GROUPS.values(), folder, sizes or SIZES), "pictures")
    if not chosen:
        for mode in ("light", "dark"):
            make_panels(mode, folder)  # type: ignore[arg-type]


@contextmanager
def _copy_vault() -> Iterator[Path]:
    """Copy the sample notes, and add notes of other kinds and with long names."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "Field notes"
        shutil.copytree(sample_vault(), vault)
        shutil.copy(vault / README_PICTURE, vault / "Attachments/Plan.png")
        (vault / "Formats.md").write_text(_FORMATS, "utf-8")
        (vault / "Reading").mkdir()
        report = pdf(["First page about barrels.", "Second page about rain."], title="Report")
        (vault / "Reading/A report with quite a long name indeed.pdf").write_bytes(report)
        (vault / "Reading/Locked.pdf").write_bytes(pdf(["Secret."], is_encrypted=True))
        (vault / "Daily").mkdir()
        for day in range(1, 29):
            name = f"Daily/2026-05-{day:02}.md"
            (vault / name).write_text(f"# {day} May\n\nWatered the beds.\n", "utf-8")
        yield vault


def read_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line. A folder whose name begins with a hyphen is refused."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.pictures", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=_name_folder,
        help="save pictures of all states there (otherwise those of the README and the guide)",
    )
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        type=_find_name,
        help=f"only these groups and sizes: {', '.join((*GROUPS, *SIZES))}",
    )
    return parser.parse_args(argv)


def _name_folder(text: str) -> Path:
    if not text.strip() or text.startswith("-"):
        raise argparse.ArgumentTypeError(f"{text!r} is no name for a folder; write ./{text}")
    return Path(text)


def _find_name(text: str) -> str:
    if text not in (*GROUPS, *SIZES):
        raise argparse.ArgumentTypeError(f"there is no group and no size {text!r}")
    return text


def main() -> None:
    """Save the pictures of the README and the guide, or all pictures."""
    chosen = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        screen = Path(folder) / "screen.json"
        screen.write_text(_SCREEN, "utf-8")
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        if os.environ["QT_QPA_PLATFORM"] == "offscreen":
            os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={screen}"
        app = QApplication(sys.argv[:1])
    app.setWindowIcon(load_app_icon())
    Theme.current().apply("light")
    if chosen.folder is not None:
        make_all(chosen.folder, chosen.names)
        return
    with stage() as on:
        make_readme_picture(on)
        make_guide_pictures(on)
    with tempfile.TemporaryDirectory() as folder:
        vault = shutil.copytree(sample_vault(), Path(folder) / "Field notes")
        with stage(vault) as on:
            make_proof_pictures(on, vault)


if __name__ == "__main__":
    main()
