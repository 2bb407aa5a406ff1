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

__all__ = ["ROWS", "UNMET", "Behaviour"]

ROWS: tuple[Behaviour, ...] = (*BODIES, *THINKING, *CALLS, *ENDINGS, *FAILURES, *SHAPES)

# The rows that Strata does not meet yet. A row that is met fails until it is removed from here.
UNMET: frozenset[str] = frozenset(
    {
        "a byte order mark",
        "comments and other fields between the events",
        "one event a line, without blank lines",
        "bare JSON lines in place of events",
        "an event over several data lines",
        "a bad line between good ones",
        "bytes that are not UTF-8 between good lines",
        "numbers, lists and nulls in place of events",
        "deltas that are null, text or numbers",
        "a NUL in the text",
        "content as a list of parts",
        "content as one part",
        "content as a list of strings",
        "parts of kinds that nobody knows",
        "content as a number",
        "a message in place of a delta",
        "text in place of a delta",
        "only a refusal",
        "a JSON document in place of a stream",
        "a JSON document that calls itself a stream",
        "a JSON document with parts",
        "a JSON document with an error and status 200",
        "a web page with status 200",
        "a web page that calls itself a stream",
        "a page of plain text",
        "an empty body",
        "204",
        "reasoning of its own",
        "reasoning under another name",
        "<think> in pieces of 1",
        "<think> in pieces of 2",
        "<think> in pieces of 5",
        "<think> in pieces of 1000",
        "<thinking> in pieces of 4",
        "<reasoning> in pieces of 4",
        "<thought> in pieces of 4",
        "[THINK] in pieces of 3",
        "◁think▷ in pieces of 3",
        "<|channel|>analysis<|message|> in pieces of 1",
        "<|channel|>analysis<|message|> in pieces of 7",
        "<|start|>assistant<|channel|>analysis<|message|> in pieces of 5",
        "<seed:think> in pieces of 4",
        "blanks before the opening mark",
        "an opening mark in capitals",
        "a closing mark alone",
        "two blocks of thinking",
        "empty thinking",
        "a final channel only",
        "a name in pieces",
        "arguments that repeat all so far",
        "whole arguments, sent twice",
        "arguments encoded twice",
        "head and tail on different indexes",
        "a function call of the old form",
        "an id that no other server takes",
        "an id that is a number",
        "null arguments",
        "text before a call",
        "a call in a JSON document",
        "a name with a channel mark",
        "an empty name",
        "no name",
        "a name of 300 characters",
        "a name with blanks and marks",
        "a name with half a surrogate",
        "arguments of a megabyte",
        "[DONE] without a finish reason",
        "[DONE] and more behind it",
        "an empty answer",
        "a blank answer",
        "an empty answer in an agent's turn",
        "only [DONE]",
        "a cut in the text",
        "a cut within an event",
        "an error that is a number",
        "an error without a word",
        "an error that is empty",
        "a redirect",
        "a redirect without an address",
        "a quota that is used up",
        "billing",
        "an error event in the stream",
        "an error event that is plain text",
        "bytes that nobody can read",
    }
)
