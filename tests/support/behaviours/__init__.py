"""What model servers do, as one table: what each sends, and what the user should get.

`behaviour` defines a row and the pieces of OpenAI's protocol; the other modules hold the rows by
kind. `ROWS` has them all. `tests/e2e/models/test_conformance.py` runs them.
"""

from tests.support.behaviours.behaviour import Behaviour
from tests.support.behaviours.bodies import BODIES
from tests.support.behaviours.calls import CALLS
from tests.support.behaviours.endings import ENDINGS
from tests.support.behaviours.failures import FAILURES
from tests.support.behaviours.shapes import SHAPES
from tests.support.behaviours.thinking import THINKING

__all__ = ["ROWS", "Behaviour"]

ROWS: tuple[Behaviour, ...] = (*BODIES, *THINKING, *CALLS, *ENDINGS, *FAILURES, *SHAPES)
