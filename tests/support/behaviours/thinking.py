"""Thinking that a server lets through as text."""

from tests.support.behaviours.behaviour import Behaviour, chunk, stream, text
from tests.support.models.model_server import Answer

SAID = "Behind the shed."
THOUGHT = "The user wants the barrel."


def _split(whole: str, size: int) -> bytes:
    return text(*(whole[start : start + size] for start in range(0, len(whole), size)))


def _row(
    name: str, whole: str, answer: str = SAID, size: int = 3, thought: str = THOUGHT
) -> Behaviour:
    return Behaviour(name, (stream(_split(whole, size)),), answer, thought=thought)


def _marked(open: str, close: str, *sizes: int) -> tuple[Behaviour, ...]:
    return tuple(
        _row(f"{open} in pieces of {size}", f"{open}\n{THOUGHT}\n{close}\n\n{SAID}", size=size)
        for size in sizes
    )


THINKING = (
    Behaviour("reasoning of its own", (Answer(SAID, reasoning=THOUGHT),), SAID, thought=THOUGHT),
    Behaviour(
        "reasoning under another name",
        (stream(chunk({"reasoning": THOUGHT}), text(SAID)),),
        SAID,
        thought=THOUGHT,
    ),
    *_marked("<think>", "</think>", 1, 2, 5, 1000),
    *_marked("<thinking>", "</thinking>", 4),
    *_marked("<reasoning>", "</reasoning>", 4),
    *_marked("<thought>", "</thought>", 4),
    *_marked("[THINK]", "[/THINK]", 3),
    *_marked("◁think▷", "◁/think▷", 3),
    *_marked(
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
        1,
        7,
    ),
    *_marked(
        "<|start|>assistant<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
        5,
    ),
    *_marked("<seed:think>", "</seed:think>", 4),
    _row("blanks before the opening mark", f"\n <think>{THOUGHT}</think>{SAID}"),
    _row("an opening mark in capitals", f"<THINK>{THOUGHT}</THINK>{SAID}"),
    _row("a closing mark alone", f"{THOUGHT}\n</think>\n\n{SAID}", SAID),
    _row(
        "a mark that is only quoted",
        f"Write `</think>` or `<think>`. {SAID}",
        f"Write `</think>` or `<think>`. {SAID}",
        thought="",
    ),
    _row(
        "a mark in a fence",
        f"Like so:\n\n```\n</think>\n```\n\n{SAID}",
        f"Like so:\n\n```\n</think>\n```\n\n{SAID}",
        thought="",
    ),
    _row(
        "an opening mark in the middle",
        f"{SAID} <think> is a mark.",
        f"{SAID} <think> is a mark.",
        thought="",
    ),
    _row(
        "both marks in the middle",
        f"Use the tag <think> and close with </think>. {SAID}",
        f"Use the tag <think> and close with </think>. {SAID}",
        thought="",
    ),
    Behaviour(
        "a closing mark in the text behind reasoning of its own",
        (stream(chunk({"reasoning_content": THOUGHT}), text("Write </think> at the end.")),),
        "Write </think> at the end.",
        thought=THOUGHT,
    ),
    _row(
        "a closing mark in code within the thinking",
        f"<think>{THOUGHT} Not `</think>`.</think>{SAID}",
        thought=f"{THOUGHT} Not `</think>`.",
    ),
    _row(
        "a mark as the first word",
        f"[think] of the barrel. {SAID}",
        f"[think] of the barrel. {SAID}",
        thought=f" of the barrel. {SAID}",
    ),
    *(
        _row(
            f"harmony without its marks, in pieces of {size}",
            f"analysis{THOUGHT}assistantcommentarySure.assistantfinal{SAID}",
            size=size,
            thought=f"{THOUGHT}assistantcommentarySure.",
        )
        for size in (1, 9, 1000)
    ),
    _row("the word analysis", f"analysis is done. {SAID}", f"analysis is done. {SAID}", thought=""),
    _row("two blocks of thinking", f"<think>{THOUGHT}</think><think>Sure.</think>{SAID}"),
    _row("empty thinking", f"<think>\n\n</think>\n\n{SAID}", thought=""),
    _row("a final channel only", f"<|channel|>final<|message|>{SAID}<|return|>", thought=""),
)
