"""How the index stands, at the foot of the sidebar in a line and as a panel in full.

    state     what a run is at, and its words
    footer    the line that is always there: how far it is, pause, stop, what could not be read
    panel     the whole: run (how far, how fast), facts, lists (indexed, left out, not read), and
              the question before everything is thrown away; not loaded for the first paint
    by_state  what those lists show, made in a task

May import: `ui.widgets`, `ui.theme`, and the plain values of the layers below.
"""

from ui.panels.index.footer import IndexFooter
from ui.panels.index.state import IndexState

__all__ = ["IndexFooter", "IndexState"]
