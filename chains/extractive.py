"""Answers without a model."""

from collections.abc import Iterator, Sequence

from chains.model_port import ModelEnded, ModelEvent, ModelText
from context.layers import Segment


def quoted_answer(
    question: str, sources: Sequence[Segment], has_searched: bool
) -> Iterator[ModelEvent]:
    """Yield."""
    yield ModelText("No model is set.")
    yield ModelEnded("complete", "stop")
