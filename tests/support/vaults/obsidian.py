"""A vault with the constructs of Obsidian's own help: embeds, callouts, properties, formulas."""

from pathlib import Path

from tests.support.vaults.documents import pdf
from tests.support.vaults.image_files import draw

__all__ = ["write_obsidian_vault"]

_EMBEDS = """\
# Embeds

A whole note:

![[Pump]]

A section, ![[Frost#Before the first night]] in the middle of a line.

- an item with a block ![[Frost#^limit]]

> [!tip] Inside a callout
> ![[Frost#^limit]]

An image at its size and a smaller one:

![[Attachments/bed.png]]

![[bed.png|120]]

A page of a document:

![[Manual.pdf#page=2]]

What is not shown:

![[Nowhere]]

![[Diary]]

![[Secret/Codes]]

![[Pump#No such heading]]

![[Loop]]

![[Embeds]]
"""
_MARKUP = """\
---
tags: [garden/water, spring]
due: 2024-01-05
done: true
litres: 210
related: "[[Frost]]"
people:
  - Ann
  - "[[Nobody|Bob]]"
site: https://example.org/pump
---
# Markup

Some ==marked words==, a #garden/water tag, %%a comment%% and a note.[^1] ^block-id

status:: open
The tap [height:: 80 cm] and [[Frost|the frost]] and [[Nobody]].

> [!tip]- Folded at first
> Hidden until it is opened.
>
> > [!warning]+ Inside
> > Mind the step.

> [!bug] Not folded
> A bug.

> [!quote]
> No title.

<details><summary>More of it</summary>

- first
- second

</details>

%%
Nobody sees this.
%%

<b>bold</b> stays text.

[^1]: The text of the footnote.
"""
_FORMULAS = """\
# Formulas

The energy is $E = mc^2$, and $\\frac{a}{b}$ stands in a line of text, as $x_1, \\dots, x_n$ does.
A sum within a line, $\\sum_{i=0}^n x_i$, makes the line taller. It costs $5 and $6.

$$
\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}
$$

> [!note] In a callout, $\\alpha$
> $$\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}$$

| quantity | formula |
|----------|---------|
| area     | $\\pi r^2$ |

What cannot be read stays: $\\frac{a$, and

$$
\\begin{matrix} a
$$
"""
_PUMP = """\
---
tags: [garden]
---
# Pump

The pump runs at **six** o'clock. See [[Frost]] and [its limit](../Frost.md#^limit).

![[Valve]]

![[leaf.png|60]]
"""
_VALVE = """\
The valve closes below the pump.

![[Deep]]
"""
_FROST = """\
# Frost

Cover the beds.

## Before the first night

1. Drain the hose.
2. Close the tap.

## Limit

The guard starts at 4 °C. ^limit
"""


def write_obsidian_vault(folder: Path) -> Path:
    """Write the vault into a folder, and return the folder."""
    for name in ("Attachments", "Garden/Attachments", "Secret", ".obsidian"):
        (folder / name).mkdir(parents=True)
    texts = {
        "Embeds.md": _EMBEDS,
        "Markup.md": _MARKUP,
        "Formulas.md": _FORMULAS,
        "Garden/Pump.md": _PUMP,
        "Garden/Valve.md": _VALVE,
        "Deep.md": "Deep below.\n",
        "Frost.md": _FROST,
        "Diary.md": "---\nprivate: true\n---\nNobody reads this.\n",
        "Secret/Codes.md": "The code is 4711.\n",
        "Loop.md": "Round and round.\n\n![[Loop]]\n\n![[Other loop]]\n",
        "Other loop.md": "And back.\n\n![[Loop]]\n",
        ".obsidian/app.json": '{"userIgnoreFilters": ["Secret/"]}',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "Attachments/bed.png").write_bytes(draw(300, 200))
    (folder / "Garden/Attachments/leaf.png").write_bytes(draw(80, 60, corner="green"))
    (folder / "Manual.pdf").write_bytes(pdf(["How to start.", "How to stop."]))
    return folder
