import pytest

from chains.citations.sources import check_answer, insert_numbers, name_share

SERVER = (
    "# Home server\n\n"
    "The server is backed up every night at 02:30 to the disk in the garage. ^when\n"
    "A full backup takes about 40 minutes and is kept for 90 days.\n\n"
    "- [ ] Replace the fan of the power supply before winter"
)
GARDEN = "Beans need warm soil, at least 10 °C.\nThey do not like to be watered in the evening."


@pytest.fixture
def sources(source):
    return [source(1, GARDEN, first=10), source(2, SERVER, first=5, source="Home server.md")]


def test_a_sentence_that_stands_in_a_source_gets_its_number_and_lines(sources):
    report = check_answer("The server is backed up every night at 02:30 to the disk.", sources)
    (found,) = report.citations
    assert (found.n, found.lines, found.heading) == (2, (7, 7), ("Home server",))
    assert found.to_dict()["found_by"] == "strata"
    assert found.to_dict()["sentence"] == found.sentence


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        ("花园里有三棵树。\n服务器每周五备份到第二块硬盘。", "服务器每周五备份到第二块硬盘。"),
        (
            "庭に木が三本ある。\nサーバーは毎週金曜日に保存される。",
            "サーバーは毎週金曜日に保存される。",
        ),
        ("สวนมีต้นไม้สามต้น\nเซิร์ฟเวอร์สำรองข้อมูลทุกวันศุกร์", "เซิร์ฟเวอร์สำรองข้อมูลทุกวันศุกร์"),
    ],
)
def test_a_sentence_without_spaces_between_words_gets_its_source(source, note, sentence):
    report = check_answer(sentence, [source(1, GARDEN), source(2, note, first=3)])
    assert [(one.n, one.lines) for one in report.citations] == [(2, (4, 4))]


def test_words_as_they_stand_are_verified_and_others_are_not(sources):
    verbatim = "A full backup takes about 40 minutes and is kept for 90 days."
    nearly = "A full backup takes roughly 40 minutes and it is kept for 90 days."
    report = check_answer(f"{verbatim} {nearly}", sources)
    assert [(one.n, one.verified) for one in report.citations] == [(2, True), (2, False)]
    assert not any(one.is_doubtful for one in report.citations)


@pytest.mark.parametrize(
    "sentence",
    [
        "A full backup takes about 50 minutes and is kept for 90 days.",  # another figure
        "Beans like to be watered in the evening.",  # without the negation
        "The notes do not say when the server is backed up.",
        "Here are the steps:",
        "Paris is the capital of France.",
        "The server.",
    ],
)
def test_a_sentence_that_stands_in_no_source_gets_no_number(sources, sentence):
    assert check_answer(sentence, sources).citations == ()


def test_of_equal_sentences_the_source_with_the_rest_of_the_answer_is_chosen(source):
    short = "- The unchecked box is a space\n"
    sources = [source(1, short, source="A.md"), source(2, f"{short}- The checked box is an x\n")]
    report = check_answer("- The unchecked box is a space\n- The checked box is an x", sources)
    assert [one.n for one in report.citations] == [2, 2]
    alone = check_answer("The unchecked box is a space", sources)
    assert [one.n for one in alone.citations] == [1]


def test_what_a_source_says_of_another_subject_is_no_source_for_the_one_asked_about(source):
    rest = "is to make it easy to start testing quickly on a newer version of the plugin again."
    text = f"# Tests\nThe intention {rest}"
    sources = [source(1, text, source="Tests.md")]
    said = f"{{}} {rest}"
    asked = "What would be the correct behaviour?"
    assert check_answer(said.format("The correct behaviour"), sources, asked).citations == ()
    assert check_answer(said.format("The plan"), sources, asked).citations
    titled = [source(1, text, source="Tests.md", title="Correct behaviour")]
    assert check_answer(said.format("The correct behaviour"), titled, asked).citations


def test_a_name_within_a_heading_or_a_longer_sentence_is_no_sentence(source):
    text = (
        "## Check it with Natural Language Dates\n\nInstall Natural Language Dates and restart the "
        "program before the test begins.\n\n- Various Complements\n"
    )
    sources = [source(1, text)]
    answer = "They are:\n\n1. **Natural Language Dates**\n2. **Various Complements**"
    assert [one.sentence for one in check_answer(answer, sources).citations] == []
    listed = check_answer("- Various Complements of it", [source(1, "- Various Complements of it")])
    assert [one.sentence for one in listed.citations] == ["Various Complements of it"]


def test_a_sentence_that_repeats_the_question_gets_no_number(sources):
    asked = "Is the server backed up every night?"
    assert check_answer("The server is backed up every night.", sources, asked).citations == ()
    assert check_answer("The server is backed up every night.", sources).citations


def test_an_answer_whose_model_cites_is_left_as_it_is(sources):
    answer = "Beans need warm soil [1]. A full backup takes about 40 minutes."
    report = check_answer(answer, sources)
    assert [(one.n, one.sentence) for one in report.citations] == [(1, "")]
    assert report.sentences == 0
    assert report.citations[0].to_dict()["found_by"] == "model"


def test_numbers_are_shown_behind_the_sentences_that_have_a_source(sources):
    answer = (
        "Sure! Here is what your notes say:\n\n"
        "- **Beans need warm soil, at least 10 °C.**\n"
        "- Nobody knows why that is so.\n\n"
        "```\nA full backup takes about 40 minutes\n```\n"
        "The server is backed up every night at 02:30\nto the disk in the garage."
    )
    report = check_answer(answer, sources)
    assert insert_numbers(answer, report.citations) == (
        "Sure! Here is what your notes say:\n\n"
        "- **Beans need warm soil, at least 10 °C.** [1]\n"
        "- Nobody knows why that is so.\n\n"
        "```\nA full backup takes about 40 minutes\n```\n"
        "The server is backed up every night at 02:30\nto the disk in the garage. [2]"
    )
    assert name_share(report.citations, report.sentences) == (
        "The model cited no note. Strata found sources for 2 of 4 sentences."
    )


def test_without_sources_nothing_is_looked_for():
    assert check_answer("Beans need warm soil.", []).sentences == 0


def test_the_words_of_strata_itself_in_an_answer_without_a_model_need_no_source(sources):
    own = 'Only "with a date in name, heading or properties: in May" was understood.'
    assert check_answer(own, sources, has_model=False).unverified == ()
    wrong = check_answer(f"{own}\n\n> Beans like frost. [1]", sources, has_model=False)
    assert [one.n for one in wrong.unverified] == [1]
    assert len(check_answer(own, sources).unverified) == 1
