"""Texts that were sent to a model, for checks of claims."""

from chains.claims.evidence import EvidenceText
from context.layers import Layer, Segment


def send_text(
    text: str, path: str, number: int | None = None, *, line: int = 1, version: str | None = None
) -> EvidenceText:
    """Return a passage of a note as evidence. The title is the name of the note."""
    title = path.rsplit("/", 1)[-1].removesuffix(".md")
    segment = Segment.build(
        id=f"p-{path}",
        layer=Layer.L3,
        kind="passage",
        source=path,
        text=text,
        lines=(line, line + text.count("\n")),
        version=version,
        title=title,
        number=number,
    )
    return EvidenceText.read(segment)
