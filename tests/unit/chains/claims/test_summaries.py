"""What a summary keeps and changes of what it replaces, read by the readers of answers."""

from dataclasses import replace

import pytest

from chains.claims.summaries import FACT_READER, find_changed, list_facts
from context.assemble.inputs import HistoryPolicy
from context.compaction import HEAD
from context.exam import ChangedFact, SummaryExam
from context.fit.compact_session import compact_session
from context.fit.edit import edit_summary
from context.fit.summary_list import strike_changed
from context.messages import ToolDefinition
from context.offload import READ_RESULT_NAME
from tests.support.sessions.chats import Chat
from tests.support.sessions.loops import Loop

READ_RESULT = ToolDefinition(READ_RESULT_NAME, "Reads what is stored.", {"type": "object"})
SAID = (
    "The pump of the greenhouse needs 18.4 kW and is described in Garden/Pump.md. "
    "We decided to paint the shed ochre. It is still open who pays for the fence. "
    "Somebody should ask Quillon Brexby before 3 March 2027, and run `make beds --all`."
)


def kinds(text):
    return {(fact.kind, fact.text) for fact in list_facts(text)}


def test_facts_of_all_kinds_are_read():
    found = kinds(SAID)
    assert {
        ("figure", "18.4 kW"),
        ("path", "Garden/Pump.md"),
        ("name", "Quillon Brexby"),
        ("date", "3 March 2027"),
        ("command", "make beds --all"),
    } <= found
    assert {kind for kind, _ in found} >= {"decision", "question"}


@pytest.mark.parametrize(
    ("summary", "changed"),
    [
        ("The pump needs 18.4 kW.", set()),
        ("The pump needs 19.4 kW.", {"19.4 kW"}),
        ("They ask Quillon Brexby by 2027-03-03.", set()),
        ("They ask Umberto Tarvany about it.", {"Umberto Tarvany"}),
        ("It is due on 4 March 2027.", {"4 March 2027"}),
        ("It is described in Garden/Well.md.", {"Garden/Well.md"}),
        ("The User asked about two things.", set()),
    ],
)
def test_what_nobody_said_is_found(summary, changed):
    assert {one.text for one in find_changed(f"{HEAD}\n{summary}", [SAID], [])} == changed


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("A quarter of the users left.", "25 % of the users left."),
        ("United States and European Union", "US and EU"),
        ("Half a kilo of flour", "500 g of flour"),
        ("It costs 20 € and 30 €.", "It costs 50 € together."),
        ("预算是五百元。", "预算是500元。"),
        ("Train at 9 from Berlin.", "The train leaves at 9:00."),
        ("I like beans.", "Current State: The User likes beans."),
        ("The walk is 3 miles long.", "The walk is 4.8 km long."),
        ("Each bed costs 20 €, and there are three.", "The beds cost 60 €."),
        ("The salary is 48,000 € a year.", "The salary is 4,000 € a month."),
    ],
)
def test_another_form_of_what_was_said_is_new_and_not_wrong(said, summary):
    found = find_changed(summary, [said], [])
    assert [one for one in found if one.is_wrong] == []


@pytest.mark.parametrize(
    ("summary", "rest"),
    [
        (
            "The rent is 15 €. The fee of the club is 5 €. All is paid.",
            "The rent is 15 €. All is paid.",
        ),
        (
            "- The rent is 15 €\n- The fee of the club is 5 €\n1. Paid.",
            "- The rent is 15 €\n1. Paid.",
        ),
        ("The walk costs 5 €. The fee of the club is 5 €.", "The walk costs 5 €."),
        ("The rent is 15 €.\nThe fee of the club is 5 €.", "The rent is 15 €."),
        (
            "The rent is 15 €.  The fee of the club is 6 €.",
            "The rent is 15 €.  The fee of the club is 6 €.",
        ),
    ],
)
def test_only_the_sentence_of_a_wrong_figure_is_struck(summary, rest):
    said = ["The rent of the flat is 15 €. The fee of the club is 6 €. The walk costs 5 €."]
    wrong = [one for one in find_changed(summary, said, []) if one.is_wrong]
    assert strike_changed(summary, wrong) == rest


def test_a_fact_whose_place_is_not_known_is_struck_as_a_whole_word():
    text = "The rent is 15 €. The fee is 5 €.\n- In 2015 we met. So 5 € it is."
    rest = "The rent is 15 €.\n- In 2015 we met."
    assert strike_changed(text, [ChangedFact("5 €", "x")]) == rest
    assert strike_changed(text, [ChangedFact("5 €", "x", "The fee was 5 €.", 18)]) == rest


def test_a_path_that_a_link_names_was_said():
    said = ["The rule is in [EIP-150](./eip-150.md) and [the plan](House/Plan-7.md#pump)."]
    assert find_changed("Files: ./eip-150.md; House/Plan-7.md", said, []) == ()


def test_numbers_that_tell_things_apart_do_not_replace_each_other():
    said = [f"Diary entry {at}: rain fell." for at in (20, 21, 22, 23)]
    assert find_changed("Diary entry 22: rain fell.", said, []) == ()
    told = [f"The pump costs {price} €." for price in (1900, 2100, 2480)]
    (found,) = find_changed("The pump costs 2100 €.", told, [])
    assert found.reason == "2480 € was said later"


def test_a_figure_that_was_replaced_later_is_found():
    said = ["The greenhouse costs 1,900 € a year.", "The greenhouse costs 2,480 € a year."]
    (found,) = find_changed("The greenhouse costs 1,900 € a year.", said, [])
    assert (found.text, found.reason) == ("1,900 €", "2,480 € was said later")
    assert find_changed("The greenhouse costs 2,480 € a year.", said, []) == ()


class Model:
    """Writes summaries in turn, and remembers why it was asked again."""

    def __init__(self, *summaries):
        self.summaries = list(summaries)
        self.refusals = []

    def __call__(self, task):
        self.refusals.append(task.refusal)
        return self.summaries.pop(0)


def compacted(model=None, tools=()):
    """Compact a chat that says facts in its first turn, and return its report and its path."""
    policy = HistoryPolicy(can_summarise=model is not None)
    loop = Loop(Chat(threshold=16_000, summarise=model, history_policy=policy), tools=tools)
    loop.begin("What about the greenhouse?")
    loop.end(f"{SAID} " + "Beds are wide. " * 120)
    for number in range(3):
        loop.begin(f"And then, part {number}?")
        loop.end("Nothing of note. " * 60)
    return loop, compact(loop)


def compact(loop):
    kept = []
    inputs = replace(loop.inputs, path=tuple(loop.chat.path), turn="", tools=loop.tools)
    ports = replace(loop.chat.ports(kept), facts=FACT_READER)
    report = compact_session(replace(inputs, ports=ports))
    loop.chat.path += kept
    return report


def test_an_outline_is_completed_by_what_it_lost():
    _, report = compacted()
    for text in ("Garden/Pump.md", "`make beds --all`", "18.4 kW", "Quillon Brexby"):
        assert text in report.summary
    assert report.exam.share == 1.0


def test_a_summary_with_a_wrong_figure_is_asked_for_once_more_and_mended():
    model = Model("The pump in Garden/Pump.md needs 19.4 kW.", "The pump needs 99.4 kW. It is wet.")
    _, report = compacted(model)
    first, again = model.refusals
    assert first == ""
    assert "It says what nobody said: 19.4 kW." in again
    assert "Quillon Brexby" in again
    assert "19.4" not in report.summary
    assert "99.4" not in report.summary
    assert (report.exam.changed, report.exam.is_asked_again, report.by) == ((), True, "model")
    assert report.exam.share >= 0.9


def test_a_summary_of_nothing_that_was_said_gives_way_to_an_outline():
    model = Model(*["The pump of the greenhouse needs 99.4 kW."] * 2)
    _, report = compacted(model)
    assert report.by == "outline"
    assert report.warnings == (
        "The summary says only what nobody said. An outline stands in its place.",
    )


def test_the_list_is_made_of_what_is_lost_after_the_striking():
    # The wrong sentence also says the only word of the path, which must be listed then.
    model = Model(*["The pump of the greenhouse in Garden/Pump.md needs 99.4 kW. It is wet."] * 2)
    _, report = compacted(model)
    assert "99.4" not in report.summary
    assert "- Files: Garden/Pump.md" in report.summary
    assert report.exam.share == 1.0


def test_a_summary_in_another_form_is_not_asked_for_again_and_stays_whole():
    told = f"{SAID.replace('18.4 kW', '18.4 kW (25 hp)')} They ask Umberto Tarvany in the EU."
    _, report = compacted(Model(told))
    assert told in report.summary
    assert report.exam.changed == ()
    assert {one.text for one in report.exam.new} >= {"Umberto Tarvany", "EU"}
    assert ", 0 gone, " in report.exam.describe()
    assert report.exam.describe().endswith(f"{len(report.exam.new)} new, 0 changed")


def test_the_line_of_the_program_is_no_fact_of_a_summary():
    model = Model(SAID)
    loop, report = compacted(model, tools=(READ_RESULT,))
    assert report.summary.count(READ_RESULT_NAME) == 1
    assert report.exam.new == report.exam.changed == ()
    facts = report.exam.facts
    loop.begin("And what else?")
    loop.end("Nothing. " * 60)
    copied = report.summary.partition("\n")[2]
    model.summaries = [copied]
    again = compact(loop)
    assert again.entry != report.entry
    assert again.exam.facts == facts
    assert again.summary.count(READ_RESULT_NAME) == 1
    assert f'"{report.entry}"' not in again.summary


def test_an_edited_summary_still_says_how_to_read_what_it_replaces():
    loop, report = compacted(tools=(READ_RESULT,))
    kept = []
    inputs = replace(loop.inputs, path=tuple(loop.chat.path), turn="", tools=loop.tools)
    edit_summary(replace(inputs, ports=loop.chat.ports(kept)), report.entry, "Beds are wide.")
    written = kept[-1].patch[-1]["parts"]
    assert "Beds are wide.\n" in written
    assert f'{READ_RESULT_NAME} with ref_id="{report.entry}"' in written


def test_an_agent_can_read_all_that_left_with_one_call():
    loop, report = compacted(tools=(READ_RESULT,))
    assert f'{READ_RESULT_NAME} with ref_id="{report.entry}"' in report.summary
    assert loop.chat.compactions[-1].id == report.entry
    assert report.exam.gone == ()


def test_the_log_keeps_the_exam():
    loop, report = compacted()
    stored = SummaryExam.read(loop.chat.compactions[-1].patch[-1]["exam"])
    assert stored.describe() == report.exam.describe()


def test_an_unchanged_chat_is_not_compacted_again():
    loop, _ = compacted()
    before = list(loop.chat.path)
    report = compact(loop)
    assert report.entry is None
    assert loop.chat.path == before


def test_a_long_fence_is_not_closed_by_a_shorter_one() -> None:
    facts = list_facts(
        "````sh\ngit fetch --all\n```\ngit push\n````\nThat was it.\n" + "~" * 20_000
    )
    commands = [fact.text for fact in facts if fact.kind == "command"]
    assert {"git fetch --all", "git push"} <= {*commands}
    assert "That was it." not in commands


def test_a_summary_that_is_examined_twice_is_compared_once() -> None:
    said, later = ["The pump has 18 kW."], ["Well."]
    first = find_changed("The pump has 19 kW.", said, later)
    assert first[0].text == "19 kW"
    assert find_changed(f"{HEAD}\nThe pump has 19 kW.\n", said, later) is first
    assert find_changed("The pump has 19 kW.", ["The pump has 19 kW."], later) == ()
