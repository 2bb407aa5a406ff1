"""Prompts of the user's own, each in a file that takes the place of the one that is shipped."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from chains.errors import BadPrompt
from chains.prompts import Prompt, PromptSource, built_in, read_prompt

__all__ = ["prompts_in"]


def prompts_in(folder: Path) -> PromptSource:
    """Return the prompts of a folder, the built-in one where a file is missing or cannot be used.

    Each file is read once, so that a prompt stays what it is while a turn goes on.
    """

    @cache
    def prompt(name: str) -> Prompt:
        file = folder / f"{name}.md"
        try:
            return read_prompt(file.read_text("utf-8-sig"))
        except FileNotFoundError:
            return built_in(name)
        except UnicodeDecodeError:
            reason = "it is not UTF-8"
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
        except BadPrompt as error:
            reason = str(error)
        problem = f"The prompt {file} is not used: {reason}. The built-in one stands in for it."
        return replace(built_in(name), problem=problem)

    return prompt
