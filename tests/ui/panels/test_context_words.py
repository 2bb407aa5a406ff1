"""What the context panel says: what was left out and why, what is the matter, what it costs."""

from dataclasses import replace

import pytest

from context.report.report import Actions, ContextReport, Prefix
from tests.support.sessions.contexts import (
    QUESTIONS,
    make_context,
    make_dropped,
    make_segment,
    panel_states,
)
from ui.panels.context.layer_rows import list_part_rows, pin_rows
from ui.panels.context.left_out import LeftOutRow, list_left_out_rows
from ui.panels.context.notice import build_notice, find_passed_share
from ui.panels.context.words import Counted, Prices, describe_window, price_sentence
from ui.widgets.formatting import money

PRICES = Prices(read=1e-5, kept=1e-6)


def only(context: ContextReport) -> LeftOutRow:
    (row,) = list_left_out_rows(context, QUESTIONS)
    return row


def below(row: LeftOutRow) -> list[str]:
    return [detail.text for detail in row.below]


def test_turns_left_out_are_named_by_their_questions() -> None:
    dropped = make_dropped(entries=["u1", "a1", "u2", "a2"], turns=2, tokens=5_108)
    row = only(make_context(dropped=[dropped]))
    assert (row.what, row.tokens) == ("2 oldest turns", 5_108)
    assert row.reason == "Dropped: history over its budget"
    assert below(row) == ["“How are the notes backed up?”", "“And the second one?”"]


def test_a_passage_left_out_is_named_by_its_lines_and_can_be_opened() -> None:
    context = make_context(
        segments=[make_segment(state="dropped", tokens=0)],
        dropped=[make_dropped(layer="L3", entries=["s1"], tokens=418, reason="share")],
    )
    row = only(context)
    assert row.what == "garden/Tomatoes.md, lines 3–9"
    assert row.reason == "Lowest rank: over the room for passages"
    assert below(row) == ["Open the note"]
    assert [(detail.path, detail.lines) for detail in row.below] == [("garden/Tomatoes.md", (3, 9))]


PASTED = "/home/me/.local/share/strata/pasted/0123456789ab/Pasted image.png"


def test_a_pasted_image_is_named_as_on_its_chip_and_not_by_its_hidden_folder() -> None:
    segment = make_segment(
        kind="image", source=PASTED, lines=None, state="dropped", tokens=0, reason="unseen"
    )
    dropped = make_dropped(layer="L3", entries=[segment["id"]], turns=0, reason="unseen")
    for context in (
        make_context(segments=[segment]),
        make_context(segments=[segment], dropped=[dropped]),
    ):
        row = only(context)
        assert row.what == "Pasted image.png"
        assert [(detail.text, detail.path) for detail in row.below] == [("Open the image", PASTED)]
    sent = segment | {"state": "full", "tokens": 418}
    assert list_part_rows(make_context({"L3": 418}, segments=[sent]), "L3")[0].text == row.what
    (pin,) = pin_rows(
        make_context(pins=[{"target": "s1", "kind": "image", "source": PASTED, "tokens": 9}]),
        questions={},
    )
    assert (pin.text, pin.path) == ("Pasted image.png", PASTED)


def test_a_passage_of_a_project_outside_the_vault_keeps_its_path() -> None:
    segment = make_segment(source="/home/me/garden/Well.md", state="dropped", tokens=0)
    assert only(make_context(segments=[segment])).what == "/home/me/garden/Well.md, lines 3–9"


def test_a_note_that_is_gone_cannot_be_opened() -> None:
    segment = make_segment(state="dropped", tokens=0, reason="gone")
    dropped = make_dropped(layer="L2", entries=[segment["id"]], turns=0, reason="gone")
    row = only(make_context(segments=[segment], dropped=[dropped]))
    assert (row.reason, row.below) == ("Gone from the vault", ())


def test_a_summary_that_is_left_out_or_halved_is_named_and_can_be_shown() -> None:
    dropped = make_dropped(layer="L4", entries=["c1"], turns=0, tokens=604, reason="summary")
    row = only(make_context(dropped=[dropped]))
    assert (row.what, row.tokens) == ("Summary", 604)
    assert row.reason == "Left out this once, to make room"
    assert [(detail.text, detail.summary) for detail in row.below] == [("Show summary", "c1")]
    row = only(make_context(dropped=[dropped | {"reason": "summary_shortened"}]))
    assert (row.what, row.reason) == ("Summary", "Shortened to its first half, this once")


def test_an_attachment_that_is_searched_says_about_how_much_of_it_goes() -> None:
    fate = {"state": "shrunk", "tokens": 629, "original_tokens": 12_624, "reason": "share"}
    row = only(make_context(segments=[make_segment(kind="note", **fate)]))
    assert row.reason == "About 629 of it go: what is found on sending"


def test_an_attachment_that_was_searched_within_is_one_row_however_many_passages_go() -> None:
    fate = {"state": "shrunk", "original_tokens": 12_000, "reason": "share", "source": "Book.md"}
    passages = [make_segment(kind="passage", tokens=400 + n, **fate) for n in range(3)]
    row = only(make_context(segments=passages))
    assert (row.what, row.tokens) == ("Book.md", 12_000 - 1_203)
    assert row.reason == "Searched within: 3 passages used"
    assert below(row) == ["Open the note"]


def test_an_attachment_without_room_for_any_passage_says_so() -> None:
    segment = make_segment(kind="note", state="dropped", tokens=0, reason="share")
    dropped = make_dropped(layer="L3", entries=[segment["id"]], turns=0, reason="share")
    row = only(make_context(segments=[segment], dropped=[dropped]))
    assert row.reason == "Too large: no room for any of its passages"


def test_a_shrunk_passage_says_to_what() -> None:
    segment = make_segment(state="shrunk", tokens=410, original_tokens=1_614, reason="budget")
    row = only(make_context(segments=[segment]))
    assert (row.tokens, row.reason) == (1_204, "Shrunk to 410: over the budget")


def test_trimmed_messages_say_how_many_how_much_and_up_to_where() -> None:
    row = only(panel_states()["amber"])
    assert (row.layer, row.what, row.tokens) == ("L4", "12 old messages", 17_910)
    assert row.reason == "Trimmed: old results of tools are shortened"
    assert below(row) == [
        "18,220 → 310 tokens",
        "Up to “And the second one?”",
        "This chat still shows them in full",
    ]


def test_summarised_messages_offer_their_summary() -> None:
    row = only(panel_states()["compacted"])
    assert (row.what, row.tokens) == ("Earlier messages", None)
    assert row.reason == "Summarised: 96,412 → 30,120 tokens, written by a model"
    assert below(row) == ["Show summary"]
    assert row.below[-1].summary == "c1"


def test_a_compaction_is_told_once() -> None:
    assert list_left_out_rows(panel_states()["compacted"], {}, "c1") == []


def test_a_summary_that_a_later_one_replaced_is_not_listed() -> None:
    state = panel_states()["compacted"]
    (first,) = state.compactions
    second = replace(first, entry="c2", before_tokens=4_614, after_tokens=2_339)
    both = replace(state, compactions=(first, second))
    assert [row.below[-1].summary for row in list_left_out_rows(both, {}, "")] == ["c2"]
    assert list_left_out_rows(both, {}, "c2") == []


def test_results_that_are_kept_aside_are_named_with_their_size() -> None:
    kept = [{"ref_id": "r1", "tool": "search_notes", "bytes": 12_480}]
    row = only(make_context(offloaded=kept))
    assert (row.what, row.tokens) == ("1 large result", None)
    assert below(row) == ["search_notes, 12,480 bytes"]


def test_tools_that_are_held_back_are_named() -> None:
    row = only(make_context(deferred_tools=["calendar__list", "calendar__create"]))
    assert row.name == "T, 2 tools, Held back: the model can look for them"
    assert below(row) == ["calendar__list", "calendar__create"]


def test_an_unknown_reason_is_said_as_it_is() -> None:
    row = only(make_context(dropped=[make_dropped(turns=1, tokens=4, reason="some_hook")]))
    assert row.reason == "Some hook"


def test_a_calm_request_has_no_notice() -> None:
    assert build_notice(panel_states()["calm"]) is None


def test_warnings_of_a_request_are_repeated_where_nothing_else_is_to_be_said() -> None:
    said = "812 of 6,591 notes searched by meaning, all by words."
    for when, title in (("last", "About this answer"), ("next", "About this request")):
        notice = build_notice(replace(panel_states()["calm"], warnings=(said,), when=when))
        assert notice is not None
        assert (notice.tone, notice.title, notice.text) == ("info", title, said)
    overflow = panel_states()["overflow"]
    assert build_notice(replace(overflow, warnings=(said,))) == build_notice(overflow)


def test_past_the_first_mark_it_says_what_happens_at_the_next() -> None:
    notice = build_notice(replace(panel_states()["amber"], trimmed=None))
    assert notice is not None
    assert (notice.tone, notice.title) == ("amber", "Past 80\u00a0%, nothing left to trim")
    assert notice.text == "At 95\u00a0% older messages become a summary."
    assert notice.actions == ("compact", "raise")


def test_without_compacting_it_says_that_turns_will_be_left_out() -> None:
    notice = build_notice(replace(panel_states()["amber"], auto_compact=False))
    assert notice is not None
    assert notice.text.startswith("Automatic compaction is off")


@pytest.mark.parametrize(("is_blocked", "share"), [(True, "98"), (False, "95")])
def test_a_summary_that_is_due_is_told_before_the_message_goes(
    is_blocked: bool, share: str
) -> None:
    actions = Actions(compact=True, block=is_blocked)
    context = replace(panel_states()["compacted"], actions=actions)
    notice = build_notice(context)
    assert notice is not None
    assert notice.title == f"The chat is full at {share}\u00a0%"
    row = only(context)
    assert (row.what, row.tokens, row.below) == ("Older messages", None, ())


def test_a_message_that_does_not_fit_says_what_is_free_for_it() -> None:
    notice = build_notice(panel_states()["overflow"])
    assert notice is not None
    assert (notice.tone, notice.title) == ("danger", "Your message does not fit")
    assert notice.text == "It has 131,870 tokens; 118,230 are free for it. Nothing was sent."


def test_instructions_that_fill_the_limit_are_not_laid_on_the_message() -> None:
    notice = build_notice(make_context({"L1": 130_000, "L5": 8}))
    assert notice is not None
    assert notice.title == "Nothing fits below this limit"


def test_a_broken_guarantee_is_said_before_anything_milder() -> None:
    dropped = make_dropped(turns=1, tokens=900, reason="history_guarantee_broken")
    notice = build_notice(make_context(dropped=[dropped]))
    assert notice is not None
    assert notice.text == "Even your previous question had to be left out to make room."


def test_a_compaction_is_told_while_it_is_news() -> None:
    compacted = panel_states()["compacted"]
    notice = build_notice(compacted)
    assert notice is not None
    assert (notice.tone, notice.entry) == ("info", "c1")
    assert notice.text == (
        "96,412 → 30,120 tokens, written by a model. Pinned: 2, kept word for word."
    )
    edited = replace(compacted.compactions[0], edited=True)
    notice = build_notice(replace(compacted, compactions=(edited,)))
    assert notice is not None
    assert "written by a model, edited by you." in notice.text
    assert build_notice(replace(compacted, prefix=Prefix("", tokens_reused=40_000))) is None


def test_shortened_results_are_not_called_a_summary() -> None:
    compacted = panel_states()["compacted"]
    cleared = replace(compacted.compactions[0], by="none")
    notice = build_notice(replace(compacted, compactions=(cleared,), pins=()))
    assert notice is not None
    assert notice.title == "Old results of tools are shortened"
    assert notice.text == "96,412 → 30,120 tokens."
    assert "summary" not in notice.actions


@pytest.mark.parametrize(("used", "passed"), [(50_000, 0), (100_000, 0.8), (130_000, 1.0)])
def test_the_highest_mark_that_is_passed_is_told(used: int, passed: float) -> None:
    assert find_passed_share(make_context({"L4": used})) == passed


def test_the_window_is_explained_in_one_sentence() -> None:
    plain = make_context()
    assert describe_window(plain) == "Window 128,000, less 4,096 kept for the answer"
    unsure = make_context(factor=1.1, model_limit=None)
    sentence = describe_window(unsure, Counted(48_511))
    assert sentence.split(" · ")[1:] == [
        "10\u00a0% spare, because this model's tokenizer is not known",
        "The model's limit is not known",
        "The service counted 48,511",
    ]


def test_the_price_is_the_models_own_for_what_is_new_and_what_was_kept() -> None:
    context = make_context({"L4": 100_000}, reused=80_000)
    assert price_sentence(context, PRICES) == "About $0.28 to read; without reuse $1.00."


def test_what_the_service_counted_is_what_was_paid() -> None:
    context = make_context({"L4": 100_000}, reused=80_000)
    told = price_sentence(context, PRICES, Counted(90_000, 0))
    assert told == "$0.90 to read."


@pytest.mark.parametrize("prices", [None, Prices(), Prices(None, 1e-6)])
def test_nothing_is_said_of_money_where_no_price_is_known(prices: Prices | None) -> None:
    assert price_sentence(make_context(), prices) == ""


def test_without_a_price_for_what_was_kept_nothing_is_said_to_be_saved() -> None:
    context = make_context({"L4": 100_000}, reused=80_000)
    assert price_sentence(context, Prices(1e-5)) == "About $1.00 to read."


def test_what_is_not_sent_costs_nothing() -> None:
    assert price_sentence(panel_states()["overflow"], PRICES) == ""


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0.00002, "<$0.0001"), (0.0042, "$0.0042"), (0.075, "$0.075"), (3.4, "$3.40")],
)
def test_prices_are_as_exact_as_they_need_to_be(dollars: float, text: str) -> None:
    assert money(dollars) == text
