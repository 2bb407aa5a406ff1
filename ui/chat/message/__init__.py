"""The widgets of one message: user message, answer, error or divider.

    answer ──> parts, steps ──> step_row ──> step_words, code
           ──> answer_tools ──> tools <── user
    blocks, failures and sources stand alone

    answer        An answer: its text while it streams, the current step, and the actions below
                  it.
    answer_tools  The actions below an answer, and the model that gave it.
    blocks        Blocks between messages: dividers for dropped, summarised or changed history,
                  and notes.
    code          Plain text of tools (arguments, results) in a monospaced box that can be
                  expanded.
    failures      An error in place of an answer: the message, a hint, and buttons to recover.
    parts         Parts of an answer: the line of the current step, and the list of unverified
                  quotes.
    sources       The sources of an answer by citation number, from its segments and the checked
                  citations.
    step_row      One step of an agent: a line that expands to the arguments and the result.
    step_words    Sentences for the steps of an agent, one by one and as a summary.
    steps         The steps of an agent: a summary line that expands to one row for each step.
    tools         Tools of a message: its action buttons, pin, versions and name, laid out in a
                  strip.
    user          A user message: plain text, folded when it is long, and an editor to change it.

May import: PySide6, `ui.markdown.page`, `ui.chat.composer`, `ui.widgets`, `ui.theme`, `ui.icons`,
and values of `app`, `chains.events` and `chains.citations`. Must not: know the transcript.
Holds always: foreign text is plain; each widget has an accessible name and role.
"""

__all__ = ["answer", "blocks", "failures", "sources", "step_words", "tools", "user"]
