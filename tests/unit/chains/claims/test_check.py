"""The claims of an answer against what was sent: figures, dates, names and sums."""

import time
from cProfile import Profile
from dataclasses import replace
from datetime import date

import pytest

from chains.cancel import CancelToken
from chains.claims.check import MOST_CHARS, NOT_SENT, check_claims
from chains.claims.evidence import ClaimEvidence, EvidenceText
from chains.claims.facts import AnswerSentence, list_sentences
from chains.claims.report import AnswerClaim
from tests.support.sessions.sent_text import send_text
from vault.review.statements import LocatedNumber, find_numbers

GREENHOUSE = """\
# Greenhouse

The greenhouse costs 2,480 € with the door.
It weighs 24.6 kg. Ines Duarte built it on 12 May 2026.
The pump in the cellar is not replaced before winter.
Water it at 14:30, three times a week.
"""
BACKUPS = (
    "Borg keeps 90 days.\nThe disk has 4 TB.\nDie Platte wird am 3. März 2027 in Kiel geprüft."
)


def text(content: str, title: str, number: int | None = None, line: int = 1) -> EvidenceText:
    return send_text(content, f"House/{title}.md", number, line=line)


USER = EvidenceText("I paid 77 € to Tom Whitfield, is that right?", "your message", origin="user")
SENT = ClaimEvidence(
    (text(GREENHOUSE, "Greenhouse", 1), text(BACKUPS, "Backups", 2, line=15), USER),
    changes=(),
    day=date(2026, 11, 27),
    sources=(1, 2),
)


def check(answer: str, evidence: ClaimEvidence = SENT) -> list[AnswerClaim]:
    return list(check_claims(answer, evidence).claims)


def tell(answer: str, evidence: ClaimEvidence = SENT) -> dict[str, str]:
    return {claim.text: claim.verdict for claim in check(answer, evidence)}


@pytest.mark.parametrize(
    ("answer", "claimed", "reason"),
    [
        ("The greenhouse costs 2,480 €.", "2,480 €", "in Greenhouse, line 3"),
        ("Das Gewächshaus kostet 2.480 €.", "2.480 €", "in Greenhouse, line 3"),
        ("La serre coûte 2 480 €.", "2 480 €", "in Greenhouse, line 3"),
        ("It costs 2480 euros.", "2480 euros", "in Greenhouse, line 3"),
        ("It weighs 24,600 g.", "24,600 g", "in Greenhouse, line 4"),
        ("Built on 2026-05-12.", "2026-05-12", "in Greenhouse, line 4"),
        ("Gebaut am 12. Mai 2026.", "12. Mai 2026", "in Greenhouse, line 4"),
        ("Construida el 12 de mayo de 2026.", "12 de mayo de 2026", "in Greenhouse, line 4"),
        ("Vérifié le 3 mars 2027.", "3 mars 2027", "in Backups, line 17"),
        ("It was built in May 2026.", "May 2026", "in Greenhouse, line 4"),
        ("Water it at 2:30 pm.", "2:30", "in Greenhouse, line 6"),
        ("The disk has 4 TB.", "4 TB", "in Backups, line 16"),
        ("It was built by Ines Duarte.", "Ines Duarte", "in Greenhouse, line 4"),
        ("See House/Backups.md for it.", "House/Backups.md", "in Backups"),
        ("You paid 77 €.", "77 €", "in your message"),
        ("Today is 27 November 2026.", "27 November 2026", "the day of the question"),
    ],
)
def test_what_was_sent_is_supported_in_any_form(answer: str, claimed: str, reason: str) -> None:
    claim = next(claim for claim in check(answer) if claim.text == claimed)
    assert (claim.verdict, claim.reason) == ("supported", reason)


@pytest.mark.parametrize(
    ("answer", "claimed"),
    [
        ("It weighs 4 kg.", "4 kg"),  # which is no whole number of 24.6
        ("The roof costs 1,900 €.", "1,900 €"),
        ("Somebody built it on 13 May 2026.", "13 May 2026"),
        ("It was made by Piotr Nowak.", "Piotr Nowak"),
        ("More is in Garden/Fence.md.", "Garden/Fence.md"),
        ("The disk has 4 GB of memory.", "4 GB"),
    ],
)
def test_what_was_not_sent_is_unsupported_and_not_accused(answer: str, claimed: str) -> None:
    claim = next(claim for claim in check(answer) if claim.text == claimed)
    assert (claim.verdict, claim.reason) == ("unsupported", NOT_SENT)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("The greenhouse costs 2,590 € with the door.", "Greenhouse, line 3 says 2,480 €"),
        ("Die Platte wird am 8. März 2027 in Kiel geprüft.", "Backups, line 17 says 3. März 2027"),
        ("The pump in the cellar is replaced before winter.", "says it with “not”"),
        ("2,480 € and 77 € are 2,657 € together.", "2,480 € + 77 € is 2,557"),
        ("2,480 € + 77 € = 2,567 €.", "2,480 € + 77 € is 2,557"),
        ("- 2,480 €\n- 77 €\n\nTotal: 2,657 €", "2,480 € + 77 € is 2,557"),
        ("The difference of 2,480 € and 77 € is 2,303 €.", "differ by 2,403"),
    ],
)
def test_a_wrong_figure_date_sum_or_negation_is_contradicted(answer: str, reason: str) -> None:
    (claim,) = [claim for claim in check(answer) if claim.verdict == "contradicted"]
    assert reason in claim.reason


@pytest.mark.parametrize(
    "answer",
    [
        "2,480 € and 77 € are 2,557 € together.",
        "Das sind zusammen 2.557 €: 2.480 € und 77 €.",
        "2,480 + 77 = 2,557.",
        "3 × 77 € = 231 €.",
        "It is 2,403 € more than 77 €: 2,480 €.",
        "- 2,480 €\n- 77 €\n\nTotal: 2,557 €",
    ],
)
def test_what_an_answer_adds_up_rightly_is_supported(answer: str) -> None:
    told = [claim for claim in check(answer) if claim.kind == "sum"]
    assert [claim.verdict for claim in told] == ["supported"]


@pytest.mark.parametrize(
    "answer",
    [
        "It might cost 1,900 €.",
        "Vielleicht wiegt es 30 kg.",
        "Cela coûte peut-être 1 900 €.",
        "Probablemente pesa 30 kg.",
        "The greenhouse costs about 2,500 € with the door.",
        "The notes do not mention a price of 1,900 €.",
        "Does it cost 1,900 €?",
        "```\ncost = 1900\n```",
        "> It costs 1,900 €.",
        "There are two points, and 3 notes:\n\n1. The first.\n2. The second.",
        "See step 3 and [2].",
        "No, the pump in the cellar is not replaced before winter.",
        "",
    ],
)
def test_nobody_is_accused_who_hedges_asks_quotes_or_counts(answer: str) -> None:
    assert set(tell(answer).values()) <= {"unchecked", "supported"}


@pytest.mark.parametrize(
    "answer",
    [
        "- 5 €\n- 7 €\n\nTotal: 12 € a month, 144 € a year.",
        "Of 2,480 € and 77 € you pay 2,600 € in total without the door.",
        "The pump costs 2,480 € and 77 €, in total for 3 years.",
        "Of 2,480 € and 77 € the sum after the discount of 10 % is 2,301 €.",
        "x + 2,480 + 77 = 9,000.",
        "A pump in another cellar was replaced before winter.",
        "Water it at 15:30, four times a week, in the new house of Tom Whitfield.",
    ],
)
def test_a_figure_that_may_be_of_something_else_is_not_contradicted(answer: str) -> None:
    assert "contradicted" not in tell(answer).values()


def test_a_result_is_known_when_it_is_told_again() -> None:
    answer = "\\[ 14.99 EUR \\times 12 = 179.98 EUR \\]\n\nSo it costs 179.98 EUR a year."
    told = [claim for claim in check(answer) if claim.text.startswith("179.98")]
    assert [(claim.verdict, claim.reason) for claim in told] == [
        ("contradicted", "14.99 × 12 is 179.88")
    ] * 2
    right = [claim for claim in check("94 + 124 = 218. So it costs 218.") if claim.text == "218"]
    assert [claim.verdict for claim in right] == ["supported", "supported"]


def test_two_sources_that_differ_are_named_unless_the_answer_tells_both() -> None:
    old = text("The greenhouse costs 1,900 € with the door.", "Old estimate", 3)
    evidence = ClaimEvidence((*SENT.texts, old), changes=())
    (claim,) = check("The greenhouse costs 2,480 €.", evidence)
    assert claim.verdict == "contradicted"
    assert claim.reason == "two sources differ: Greenhouse 2,480 €, Old estimate 1,900 €"
    assert [place.path for place in claim.places] == [
        "House/Greenhouse.md",
        "House/Old estimate.md",
    ]
    both = "The greenhouse costs 2,480 €, or 1,900 € by the old estimate."
    assert set(tell(both, evidence).values()) == {"supported"}


def test_notes_of_single_days_and_of_other_things_do_not_differ() -> None:
    days = [
        text(f"The meter shows {value} kWh at noon.", f"2026-05-1{at}", at)
        for at, value in enumerate((400, 500), start=1)
    ]
    flats = [
        text(f"The flat costs {value} € a month.", f"Flat {name}", at)
        for at, (name, value) in enumerate({"Kiel": 700, "Bremen": 900}.items(), start=1)
    ]
    assert tell("The meter shows 400 kWh.", ClaimEvidence(tuple(days))) == {"400 kWh": "supported"}
    assert tell("The flat costs 700 €.", ClaimEvidence(tuple(flats))) == {"700 €": "supported"}


def test_a_figure_of_another_note_is_not_contradicted_by_the_same_words() -> None:
    kiel = text("The flat costs 700 € a month with heating.", "Flat Kiel", 1)
    bremen = text("| rent |\n|---|\n| 900 € |", "Flat Bremen", 2)
    told = tell("The flat costs 900 € a month with heating.", ClaimEvidence((kiel, bremen)))
    assert told == {"900 €": "supported"}


def test_a_picture_may_show_what_no_text_says() -> None:
    evidence = ClaimEvidence(SENT.texts, has_images=True)
    assert tell("The roof costs 1,900 €.", evidence) == {"1,900 €": "unchecked"}


def test_without_notes_nothing_is_said_of_figures_but_sums_are_checked() -> None:
    told = tell("The roof costs 1,900 €. 5 + 7 = 13.", ClaimEvidence((USER,)))
    assert (told["1,900 €"], told["13"]) == ("unchecked", "contradicted")
    assert check_claims("The roof costs 1,900 €.", ClaimEvidence((USER,))).summary == ""


def test_the_coverage_tells_which_sentence_rests_on_which_source() -> None:
    report = check_claims("The disk has 4 TB. All is well [2]. The sun shines.", SENT)
    assert [each.sources for each in report.coverage.sentences] == [(2,), (2,), ()]
    assert (report.coverage.bare, report.coverage.unused) == (1, (1,))
    assert report.coverage.describe() == (
        "1 of 3 sentences have a source, 1 without one shares only a figure, date or name with a "
        "source; 1 source sent and not used."
    )
    alone = check_claims("The disk has 4 TB [2].", SENT).coverage.describe()
    assert alone == "1 of 1 sentence has a source; 1 source sent and not used."


_FOUND = "are somewhere in what was sent"


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        # The figure stands in the notes, but of another thing.
        ("Paint lasts 90 days.", "1 of 1 figure is somewhere in what was sent · {none}"),
        ("The disk has 4 TB [9].", "1 of 1 figure is somewhere in what was sent · {none}"),
        ("The disk has 4 TB [2].", "1 of 1 figure is somewhere in what was sent"),
        (
            "The disk has 4 TB [2]. Nobody watches over it. Good.",
            "1 of 1 figure is somewhere in what was sent · 1 of 2 sentences has no source",
        ),
        ("4 + 90 = 94.", f"2 of 2 figures {_FOUND} · 1 of 1 sum is right · {{none}}"),
        ("| disk |\n|---|\n| 4 TB [2] |", "1 of 1 figure is somewhere in what was sent"),
    ],
)
def test_the_line_names_what_was_looked_for_and_says_what_has_no_source(
    answer: str, summary: str
) -> None:
    said = check_claims(answer, SENT).summary
    assert said == summary.format(none="the answer cites no source")


def test_the_line_says_nothing_of_sources_where_none_was_sent() -> None:
    tool = EvidenceText("The disk has 4 TB.", "a tool result", "tool")
    said = check_claims("The disk has 4 TB.", ClaimEvidence((tool,))).summary
    assert said == "1 of 1 figure is somewhere in what was sent"


def test_the_line_counts_the_changes_that_an_answer_claims() -> None:
    evidence = replace(SENT, changes=(), can_edit=True)
    report = check_claims("Done: I corrected Backups [2].", evidence)
    assert report.summary == "0 of 1 change is made · 1 contradicted"


def test_one_line_counts_what_could_be_checked() -> None:
    answer = "The disk has 4 TB. The roof costs 1,900 €. 2,480 + 77 = 2,567. It might be 5 kg."
    report = check_claims(answer, SENT)
    assert report.summary == (
        "3 of 4 figures are somewhere in what was sent · 0 of 1 sum is right · "
        "the answer cites no source · 1 contradicted"
    )
    assert check_claims("All is well.", SENT).summary == ""
    shown = report.to_dict()
    assert shown["summary"] == report.summary
    assert shown["counts"] == {
        "supported": 3,
        "unsupported": 1,
        "contradicted": 1,
        "unchecked": 1,
    }
    assert shown["claims"][0]["places"][0]["lines"] == [16, 16]


def _list_work(answer: str, lines: int = 400) -> int:
    """Return how many function calls a check makes, which does not depend on the machine."""
    sand = "\n".join(
        f"The pump number {at} holds {at * 37 + 100} kg of sand." for at in range(lines)
    )
    evidence = ClaimEvidence((text(sand, "Sand", 1), text(sand, "Copy", 2)), changes=())
    profile = Profile()
    profile.runcall(check_claims, answer, evidence)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize(
    "answer",
    [
        f"The pump holds {', '.join(f'{at * 91 + 7} kg' for at in range(600))} of sand.",
        "| a | b |\n|---|---|\n"
        + f"| {' | '.join(f'{at * 13 + 100} €' for at in range(60))} |\n" * 40,
        "\n".join(f"- The pump number {at} holds {at * 91 + 7} kg of sand." for at in range(400)),
        f"In all {' + '.join(str(at * 91) for at in range(600))} kg.",
    ],
    ids=["sentence", "table", "list", "sum"],
)
def test_an_answer_with_many_figures_takes_a_bounded_amount_of_work(answer: str) -> None:
    assert _list_work(answer) < 4_000_000


def _list_work_of(answer: str, *texts: EvidenceText, is_prepared: bool = False) -> int:
    """Return how many function calls the check of an answer makes against some texts."""
    evidence = ClaimEvidence(texts, changes=())
    if is_prepared:
        evidence.prepare(CancelToken())
    profile = Profile()
    profile.runcall(check_claims, answer, evidence)
    return sum(entry.callcount for entry in profile.getstats())


def test_a_path_that_only_a_link_of_a_source_names_is_supported() -> None:
    source = text("It is in [the boiler note](Cellar/Boiler-2.md).", "Heating", 1)
    claims = check("See Cellar/Boiler-2.md for the rest.", ClaimEvidence((source,)))
    told = {claim.kind: claim.verdict for claim in claims}
    assert (told["path"], told["figure"]) == ("supported", "supported")


def test_a_figure_that_a_line_says_many_times_is_one_place() -> None:
    line = text("The pump holds 30 kg of sand before Monday. " * 3_000, "Sand", 1)
    answer = "\n".join(f"- The fan number {at} needs 30 kg of salt." for at in range(20))
    assert _list_work_of(answer, line, is_prepared=True) < 2_000_000
    assert check(answer, ClaimEvidence((line,)))[0].reason == "in Sand, line 1"


def test_sources_that_are_indexed_before_are_not_read_by_a_check() -> None:
    notes = [
        text(
            f"# Well {at}\n\nThe well number {at} was **dug** in May {1900 + at}.\n" * 20, f"W{at}"
        )
        for at in range(100)
    ]
    answer = "The fan needs 30 kg of salt. Ines Duarte built it on 12 May 2026."
    assert _list_work_of(answer, *notes, is_prepared=True) < 30_000


@pytest.mark.parametrize("between", [" ", "\n", " \n"])
def test_a_wrong_weekday_is_contradicted_across_the_end_of_a_line(between: str) -> None:
    source = text("Die Sitzung ist am 2026-05-14.", "Sitzung")
    answer = f"Die Sitzung ist am Donnerstag, den{between}2026-05-15."
    (claim,) = check(answer, ClaimEvidence((source,)))
    assert (claim.verdict, claim.reason) == ("contradicted", "2026-05-15 is a Friday")


def test_an_answer_of_many_dates_takes_a_bounded_amount_of_work() -> None:
    source = text("The pump holds 30 kg.", "Pump")
    assert _list_work_of("On 1/1/2020 " * 2_000, source) < 1_000_000


def test_a_number_of_many_digits_is_indexed_at_once() -> None:
    start = time.monotonic()
    ClaimEvidence((text("3" * 20_000, "Pi"),)).prepare(CancelToken())
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("part", ["a.", "a-", "a/", "a.b/", "-"])
def test_a_text_that_looks_like_a_long_path_is_read_once(part: str) -> None:
    """Each dot began a path that was read to its end: a minute for this text."""
    content = part * 200_000
    sentence = AnswerSentence(content, content, 0)
    start = time.process_time()
    assert list(sentence.list_paths()) == []
    assert time.process_time() - start < 10


def test_indexing_ends_when_the_answer_is_there() -> None:
    ended = CancelToken()
    ended.cancel()
    note = text("A text of this test alone that holds 30 kg.", "Alone")
    ClaimEvidence((note,)).prepare(ended)
    assert "numbers" not in vars(note.index)
    ClaimEvidence((note,)).prepare(CancelToken())
    assert "numbers" in vars(note.index)


def test_figures_beyond_the_bound_are_not_accused_and_the_others_are_checked() -> None:
    known = "The greenhouse costs 2,480 €."
    many = f"{known} The parts cost {', '.join(f'{at * 91 + 7} €' for at in range(60))}."
    told = [claim.verdict for claim in check(many)]
    assert (told[0], told[1], told[-1]) == ("supported", "unsupported", "unchecked")
    assert told.count("unchecked") == 20


def test_the_numbers_of_a_table_row_are_no_sum_without_a_word_of_one() -> None:
    rows = "| a | b | c |\n|---|---|---|\n| 300 € | 400 € | 700 € |"
    assert {claim.kind for claim in check(rows)} == {"figure"}
    total = check("| a | b | total |\n|---|---|---|\n| in total: 300 € | 400 € | 700 € |")
    assert [(each.kind, each.verdict) for each in total][-1] == ("sum", "supported")


PUMP = text(
    "The pump takes 20 minutes to fill the tank.\nThe fan does not start before 9:00 in the shed.",
    "Pump",
    1,
)
RENT = text(
    "Rent was $1,200 in 2023 and $1,350 in 2024.\nAnna Meier pays 115 € and Tom Berg pays 240 €.",
    "Rent",
    2,
)
HOUSE = ClaimEvidence((PUMP, RENT), changes=())


@pytest.mark.parametrize(
    "answer",
    [
        "The pump doesn't take 20 minutes to fill the tank.",
        "The pump does not take 20 minutes to fill the tank.",
        "The fan starts before 9:00 in the shed.",
        "The fan does start before 9:00 in the shed.",
    ],
)
def test_a_denial_with_a_helping_verb_is_found(answer: str) -> None:
    (claim,) = [claim for claim in check(answer, HOUSE) if claim.kind == "negation"]
    assert claim.verdict == "contradicted"


@pytest.mark.parametrize(
    "answer",
    [
        "The pump doesn't take 20 minutes to empty the tank.",
        "The fan doesn't start before 9:00 in the shed.",
        "The pump takes 20 minutes to fill the tank.",
    ],
)
def test_a_denial_of_something_else_is_not_accused(answer: str) -> None:
    assert "contradicted" not in {claim.verdict for claim in check(answer, HOUSE)}


@pytest.mark.parametrize(
    ("answer", "sent", "verdict"),
    [
        ("The pump takes twenty-five minutes.", "The pump takes 25 minutes.", "supported"),
        ("The pump takes 25 minutes.", "The pump takes twenty-five minutes.", "supported"),
        ("The pump takes thirty two minutes.", "The pump takes 32 minutes.", "supported"),
        ("The pump takes twenty-five minutes.", "The pump takes 5 minutes.", "unsupported"),
        ("The pump takes 5 minutes.", "The pump takes twenty-five minutes.", "unsupported"),
        ("The pump takes -20 minutes.", "The pump takes 20 minutes.", "unchecked"),
        ("It was −20 °C at the pump.", "The pump had -20 °C.", "supported"),
    ],
)
def test_a_number_is_read_whole(answer: str, sent: str, verdict: str) -> None:
    told = check(answer, ClaimEvidence((text(sent, "Pump", 1),), changes=()))
    assert {claim.verdict for claim in told if claim.kind == "figure"} <= {verdict, "contradicted"}
    assert told


@pytest.mark.parametrize("number", ["five hundred", "five and a half", "two dozen", "nine million"])
def test_a_number_in_several_words_is_not_read_in_part(number: str) -> None:
    sent = ClaimEvidence((text("It takes 5, 2 or 9 minutes.", "Pump", 1),), changes=())
    assert check(f"It takes {number} minutes.", sent) == []


def test_an_equation_with_a_sign_is_not_accused() -> None:
    assert "contradicted" not in tell("5 € - 20 € = -15 €.").values()
    assert tell("20 € -5 € = 15 €.")["15 €"] == "supported"


@pytest.mark.parametrize(
    "answer",
    [
        "Rent was $1,200 in 2024 and $1,350 in 2023.",
        "Rent was $1,350 in 2023 and $1,200 in 2024.",
        "Anna Meier pays 240 € and Tom Berg pays 115 €.",
        "Tom Berg pays 115 € and Anna Meier pays 240 €.",
    ],
)
def test_a_swapped_pair_is_not_supported(answer: str) -> None:
    told = [each for each in check(answer, HOUSE) if each.kind in ("figure", "date")]
    assert {each.verdict for each in told} == {"unchecked"}


@pytest.mark.parametrize(
    "answer",
    [
        "Rent was $1,200 in 2023 and $1,350 in 2024.",
        "Rent was $1,350 in 2024 and $1,200 in 2023.",
        "Anna Meier pays 115 € and Tom Berg pays 240 €.",
    ],
)
def test_the_same_pairs_are_supported(answer: str) -> None:
    assert {each.verdict for each in check(answer, HOUSE)} == {"supported"}


def test_an_answer_without_end_is_checked_at_its_start_only():
    said = "The greenhouse costs 2,480 €.\n\n"
    words = "The greenhouse weighs more and more and " * (MOST_CHARS // 10)
    report = check_claims(f"{said}{words}costs 7,777 €.", SENT)
    assert [claim.text for claim in report.claims] == ["2,480 €"]
    assert sum(len(sentence.text) for sentence in report.coverage.sentences) <= MOST_CHARS


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("The greenhouse costs 2480 € [1].", {1: ("2480 €",)}),
        ("On 12 May 2026 it was built by Ines Duarte [1].", {1: ("12 May 2026", "Ines Duarte")}),
        ("Borg keeps 90 days [1].", {}),  # which the other passage says
        (
            "Borg keeps 90 days [2], the greenhouse costs 2,480 € [1].",
            {1: ("2,480 €",), 2: ("90 days",)},
        ),
        ("It costs 2,480 € and 77 € [1].", {1: ("2,480 €",)}),  # the other sum is the user's
        ("It was built on 12 May 2026 for 2,999 € [1].", {}),
        ("The greenhouse costs 2,500 € since 12 May 2026 [1].", {}),
        ("Does it cost 2,480 € [1]?", {}),
        ("It is a place for plants [1].", {}),
        ("It costs 2,480 € [7].", {}),
    ],
)
def test_what_a_cited_passage_has_of_its_sentence_is_told_by_number(
    answer: str, cited: dict[int, tuple[str, ...]]
) -> None:
    found = check_claims(answer, SENT).coverage.cited
    assert {one.n: one.found for one in found} == cited


def test_the_numbers_of_a_sentence_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def count_reads(text: str) -> list[LocatedNumber]:
        read.append(text)
        return find_numbers(text)

    monkeypatch.setattr("chains.claims.facts.find_numbers", count_reads)
    (sentence,) = list_sentences("In 2026 the greenhouse cost 2,480 € and 77 €.")
    assert [figure.written for figure in sentence.figures] == ["2,480 €", "77 €"]
    assert len(sentence.dates) == 1
    assert read == [sentence.masked]
