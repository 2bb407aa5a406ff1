"""The widgets of one message: user message, answer, error or divider.

    answer ──> sections ──> ui.markdown.page.view (draws the text)
           ──> answer_status, steps ──> step_row ──> step_words, code
           ──> claims, thinking <── fold_head ──> steps
           ──> filter_row, answer_tools ──> tools <── user_tools <── user
    failures ──> answer_status; approval_card ──> code
    blocks imports no other module of this package

    answer        An answer: the steps, the text (drawn by `AnswerView`), and the actions below it.
    answer_status Lines for the current step and an early end; the list of unverified citations.
    answer_tools  The actions below an answer, and the name of the model that wrote it.
    approval_card The card in the chat that asks the user to approve a tool call.
    blocks        Dividers for dropped, summarised or changed history; blocks of Markdown.
    claims        The checked claims of an answer: a line that unfolds to a row for each claim.
    code          Plain text of tools (arguments, results) in a box that can be expanded.
    edits_card    The notes that an agent changed in a turn, and a button that undoes the changes.
    fold_head     The line that unfolds the steps, the claims or the thinking of an answer.
    filter_row    The filter of a list, with a chip for each part that lists again without it.
    failures      An error in place of an answer: the message, a hint, and buttons to recover.
    sections      `AnswerView`, the Markdown view of an answer, and the sections of notes that one
                  without a model shows, with their lit and folded lines.
    step_row      One step of an agent: a line that expands to the arguments and the result.
    step_words    Sentences for the steps of an agent, one by one and as a summary.
    steps         The steps of an agent: a summary line that expands to one row for each step.
    thinking      What a model thought before its answer, folded.
    tools         The tools of a message: action buttons, pin, versions and name, in one strip.
    user          A user message: plain text, folded when it is long, and an editor to change it.
    user_tools    The actions below a user message, visible on hover or focus.

This package may import PySide6, `ui.markdown`, `ui.chat.composer`, `ui.widgets`, `ui.theme`,
`ui.icons`, `ui.actions`, and data types of `app`, `chains.events`, `chains.tool`,
`chains.turn_answer`, `chains.citations`, `chains.claims`, `chains.retrieval`, `context.exam`,
`context.layers`, `context.messages`, `context.report.report`, `vault.notes.kinds`,
`vault.notes.text.markup` and `vault.notes.text.sentences`, but not `ui.chat.transcript`.

User messages, errors, and the arguments and results of tools are shown as plain text. Each message
widget has an accessible name and role.
"""

__all__ = [
    "answer",
    "approval_card",
    "blocks",
    "edits_card",
    "failures",
    "sections",
    "step_words",
    "tools",
    "user",
]
