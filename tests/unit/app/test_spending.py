"""The spending limit: what is booked, what is refused, and where the user is asked."""

import json
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import count
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.config.settings_file import SettingsStore
from app.errors import TurnFailed, describe
from app.spending import LimitQuestion, LimitVerdict, Spending
from chains.cancel import CancelToken
from chains.errors import SpendingLimitReached, UnpricedCallHeld
from chains.llm.port import Endpoint
from chains.providers import price_call
from chains.spending import PricedCall
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.models.priced_models import charge_for_calls
from tests.support.sessions.turns import ask, result_of

QUESTION = "How many litres does the barrel hold?"
COST = 60 * 2.5e-6 + 40 * 1.25e-6 + 10 * 10e-6  # of an answer of the scripted server
MOST = 4_096 * 10e-6  # of the answer's longest text alone
CEST = timezone(timedelta(hours=2))


class Clock:
    """A clock whose time is set."""

    def __init__(self, *time: int) -> None:
        self.now = datetime(*time, tzinfo=CEST)  # type: ignore[arg-type,misc]

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def settings(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "settings.toml", {"spending.dayLimit": 1.0})


def book(spending: Spending, most: float | None, cost: float | None) -> None:
    call = PricedCall("openai/gpt-4o", "OpenAI", most)
    turn = spending.open_turn()
    turn.check(call, CancelToken())
    turn.reserve(call).settle(cost)


def refuse(spending: Spending, most: float) -> SpendingLimitReached:
    with pytest.raises(SpendingLimitReached) as refused:
        book(spending, most, None)
    return refused.value


def test_a_call_that_may_pass_the_limit_is_refused_and_one_that_just_fits_is_not(
    settings: SettingsStore, tmp_path: Path
) -> None:
    spending = Spending(tmp_path / "spending.log", settings)
    book(spending, 0.9, 0.4)
    assert str(refuse(spending, 0.61)) == (
        "This call may cost $0.61, and $0.40 of $1.00 were spent today. It was not sent, and your "
        "message is kept."
    )
    book(spending, 0.6, 0.6)
    assert spending.summarise().today.cost == pytest.approx(1.0)


def test_sums_end_at_midnight_and_with_the_month_by_local_time(
    settings: SettingsStore, tmp_path: Path
) -> None:
    clock = Clock(2026, 10, 30, 23, 59)  # in UTC it is 21:59
    spending = Spending(tmp_path / "spending.log", settings, clock)
    settings.set("spending.monthLimit", 2.5)
    book(spending, 1.0, 1.0)
    assert refuse(spending, 0.1).period == "day"
    clock.now += timedelta(minutes=1)
    book(spending, 1.0, 1.0)
    clock.now = datetime(2026, 10, 31, 23, 0, tzinfo=CEST)
    assert refuse(spending, 0.6).period == "day"
    clock.now = datetime(2026, 11, 1, 0, 0, tzinfo=CEST)  # in UTC it is still October
    assert spending.summarise().month.cost == 0
    book(spending, 1.0, 0.5)
    assert spending.summarise().to_dict()["today"] == {
        "cost": 0.5,
        "calls": 1,
        "unpriced_calls": 0,
        "limit": 1.0,
    }


def test_the_limit_of_a_month_holds_over_its_days(settings: SettingsStore, tmp_path: Path) -> None:
    clock = Clock(2026, 11, 1, 12)
    spending = Spending(tmp_path / "spending.log", settings, clock)
    settings.set("spending.monthLimit", 2.5)
    for _ in range(2):
        book(spending, 1.0, 1.0)
        clock.now += timedelta(days=1)
    refused = refuse(spending, 0.6)
    assert (refused.period, refused.spent, refused.limit) == ("month", 2.0, 2.5)


def test_a_call_that_was_killed_counts_with_the_most_that_it_can_cost(
    settings: SettingsStore, tmp_path: Path
) -> None:
    path = tmp_path / "spending.log"
    Spending(path, settings).open_turn().reserve(PricedCall("m", "OpenAI", 0.7))
    path.write_bytes(path.read_bytes() + b'{"id": "cut')  # the next line was cut off
    after = Spending(path, settings)
    assert after.summarise().today.cost == 0.7
    refuse(after, 0.4)
    book(after, 0.3, 0.1)
    assert after.summarise().today.cost == pytest.approx(0.8)


def test_two_programs_cannot_both_use_what_is_left(settings: SettingsStore, tmp_path: Path) -> None:
    call = PricedCall("m", "OpenAI", 0.6)
    turns = [Spending(tmp_path / "spending.log", settings).open_turn() for _ in range(4)]
    for turn in turns:
        turn.check(call, CancelToken())  # when each asked, there was room
    refused: list[Exception] = []

    def reserve(number: int) -> None:
        try:
            turns[number].reserve(call)
        except SpendingLimitReached as error:
            refused.append(error)

    threads = [threading.Thread(target=reserve, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3


def test_earlier_days_are_joined_and_keep_their_sums(
    settings: SettingsStore, tmp_path: Path
) -> None:
    clock = Clock(2026, 11, 3, 12)
    path = tmp_path / "spending.log"
    spending = Spending(path, settings, clock, max_bytes=4_000)
    for day in range(4):
        clock.now = datetime(2026, 11, 3 + day, 12, tzinfo=CEST)
        for _ in range(20):
            book(spending, 0.01, 0.005)
            spending.open_turn().reserve(PricedCall("unknown", "host", None)).settle(None)
    found = spending.summarise()
    assert (found.month.cost, found.month.calls) == (pytest.approx(0.4), 80)
    assert (found.month.unpriced, found.today.unpriced, found.today.calls) == (80, 20, 20)
    assert path.stat().st_size < 10_000
    assert [found.models["unknown"].unpriced, found.models["openai/gpt-4o"].calls] == [80, 80]


def test_a_damaged_file_is_kept_aside_and_its_good_lines_still_count(
    settings: SettingsStore, tmp_path: Path
) -> None:
    path = tmp_path / "spending.log"
    book(Spending(path, settings), 0.9, 0.9)
    path.write_bytes(b"\x00\xff no line of ours\n" + path.read_bytes() + b'{"id": "x", "day": 3}\n')
    after = Spending(path, settings)
    refuse(after, 0.2)
    assert path.with_name("spending.log.damaged").exists()


@pytest.mark.parametrize(
    ("fields", "cost", "calls"),
    [
        ('"cost": 1' + "0" * 400, 0.25, 1),
        ('"cost": -3', 0.25, 1),
        ('"cost": NaN', 0.25, 1),
        ('"cost": 1e308', 0.25, 1),
        ('"cost": true', 0.25, 1),
        ('"cost": {"a": []}', 0.25, 1),
        ('"cost": "0.1", "most": null', 0, 0),
        ('"most": [1], "calls": 7', 0, 0),
        ('"cost": 0.1, "calls": 1' + "0" * 400, 0.1, 1),
        ('"cost": 0.1, "calls": Infinity', 0.1, 1),
        ('"cost": 0.1, "calls": true', 0.1, 1),
        ('"cost": 0.1, "model": ["\\ud800"]', 0.1, 1),
    ],
)
def test_a_damaged_number_is_unknown_and_the_other_lines_still_count(
    settings: SettingsStore, tmp_path: Path, fields: str, cost: float, calls: int
) -> None:
    path = tmp_path / "spending.log"
    clock = Clock(2026, 11, 3, 12)
    damaged = f'{{"id": "x", "day": "2026-11-03", "model": "m", "most": 0.25, {fields}}}\n'
    path.write_text(damaged + damaged.replace('"x"', '"y"'))
    spending = Spending(path, settings, clock, max_bytes=1)
    book(spending, 0.1, 0.1)
    clock.now = datetime(2026, 11, 4, 12, tzinfo=CEST)
    spending.open_turn().reserve(PricedCall("m", "host", 0.1)).settle(0.1)  # joins the lines
    found = spending.summarise()
    assert (found.month.cost, found.month.calls) == (
        pytest.approx(0.2 + 2 * cost),
        2 + 2 * calls,
    )
    json.dumps(found.to_dict(), allow_nan=False)
    assert all(line.encode("utf-8", "surrogateescape") for line in found.describe_models())


@pytest.mark.parametrize(
    ("name", "tokens", "is_marked", "most"),
    [
        ("openai/gpt-4o", 1_000, False, 1_000 * 2.5e-6 + 100 * 10e-6),
        ("anthropic/claude-sonnet-4-5", 1_000, True, 1_000 * 3.75e-6 + 100 * 15e-6),
        ("gemini/gemini-2.5-pro", 300_000, False, 300_000 * 2.5e-6 + 100 * 15e-6),
        ("openai/no-such-model", 1_000, False, None),
    ],
)
def test_the_most_that_a_call_can_cost_knows_tiers_and_cache_marks(
    name: str, tokens: int, is_marked: bool, most: float | None
) -> None:
    endpoint = Endpoint(name, name.partition("/")[0], "", "", "", is_local=False, needs_key=True)
    found = price_call(endpoint, tokens, 100, is_marked)
    assert found == (None if most is None else pytest.approx(most))


@pytest.mark.parametrize(
    ("spent", "most", "limit", "new"),
    [
        (4.95, 0.12, 5, 10),
        (0, 0.04, 0.02, 0.05),
        (0.9, 0.05, 0.95, 1),
        (19, 2, 20, 50),
        (1e-11, 2e-11, 1e-11, 0.0001),
        (60_000, 1, 60_000, 100_000),
        (99_999, 1, 99_999, 100_000),
        (99_999, 1.5, 100_000, None),
        (100_001, 0.1, 100_000, None),
        (2e6, 1e6, 5, None),
    ],
)
def test_a_limit_is_raised_to_the_next_round_amount_that_the_call_fits_and_the_setting_takes(
    settings: SettingsStore, spent: float, most: float, limit: float, new: float | None
) -> None:
    passed = SpendingLimitReached("m", period="month", most=most, spent=spent, limit=limit)
    question = LimitQuestion(passed)
    assert question.key == "spending.monthLimit"
    assert question.new_limit == (None if new is None else pytest.approx(new))
    if new is not None:
        assert settings.set(question.key, question.new_limit) == question.new_limit


def test_a_question_about_a_call_that_is_cancelled_waits_no_longer() -> None:
    passed = SpendingLimitReached("m", period="day", most=1, spent=0, limit=0.5)
    cancel = CancelToken()
    cancel.cancel()
    assert LimitQuestion(passed).wait(cancel) == "stop"


# The calls of turns, at the wire.


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    charge_for_calls(monkeypatch)


@pytest.fixture
def asked(assistant: Assistant) -> Iterator[list[SpendingLimitReached]]:
    """The questions to the user, who stops each call."""
    questions: list[SpendingLimitReached] = []
    assistant.spending.connect(lambda question: note(questions, question, "stop"))
    yield questions
    assistant.spending.connect(None)


def note(
    questions: list[SpendingLimitReached], question: LimitQuestion, verdict: LimitVerdict
) -> None:
    questions.append(question.passed)
    question.answer(verdict)


def list_sent(server: ModelServer) -> list[dict[str, object]]:
    return [dict(one.body) for one in server.received if one.path.endswith("/chat/completions")]


@pytest.mark.usefixtures("priced")
def test_what_an_answer_cost_is_booked_with_each_of_its_calls(
    reading: Assistant, server: ModelServer
) -> None:
    first = result_of(ask(reading, QUESTION))
    assert reading.spending.summarise().today.cost == pytest.approx(COST)
    assert first.session is not None
    reading.titles.write(first.session, CancelToken())
    server.script(Answer("", calls=(("1", "list_tags", "{}"),)), Answer("There are none."))
    result_of(ask(reading, "Which tags are there?", mode="agent", session=first.session))
    server.script(Answer("The garden has a barrel of 210 litres. " * 20))
    list(reading.compact(first.session, CancelToken()))
    found = reading.spending.summarise()
    calls = len(list_sent(server))
    assert calls >= 5  # an answer, a title, two steps, a summary
    assert (found.today.calls, found.today.cost) == (calls, pytest.approx(calls * COST))


@pytest.mark.usefixtures("priced")
def test_nothing_is_sent_beyond_the_limit_and_the_user_is_asked_once(
    reading: Assistant, server: ModelServer, asked: list[SpendingLimitReached]
) -> None:
    reading.settings.set("spending.dayLimit", 0.000001)
    with pytest.raises(TurnFailed) as failed:
        ask(reading, QUESTION)
    assert (describe(failed.value).code, list_sent(server)) == ("spending_limit", [])
    assert len(asked) == 1
    assert asked[0].most >= MOST
    assert reading.sessions.list()[0].turns == 1  # the message is kept
    reading.settings.set("retrieval.rewrite", True)
    session = reading.sessions.list()[0].session
    with pytest.raises(TurnFailed):
        ask(reading, "And in winter?", session=session)
    assert (len(asked), list_sent(server)) == (2, [])


@pytest.mark.usefixtures("priced")
def test_sending_once_holds_for_the_whole_answer_and_no_longer(
    reading: Assistant, server: ModelServer
) -> None:
    reading.settings.set("spending.dayLimit", MOST / 2)
    questions: list[SpendingLimitReached] = []
    reading.spending.connect(lambda question: note(questions, question, "send"))
    server.script(Answer("", calls=(("1", "list_tags", "{}"),)), Answer("There are none."))
    result_of(ask(reading, "Which tags are there?", mode="agent"))
    assert (len(list_sent(server)), len(questions)) == (2, 1)
    result_of(ask(reading, QUESTION))
    assert len(questions) == 2


@pytest.mark.usefixtures("priced")
def test_the_time_in_which_the_user_was_asked_is_no_part_of_the_answer(
    reading: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading.settings.set("spending.dayLimit", MOST / 2)
    server.script(Answer("It holds 500 litres."))
    seconds = count(0, 1_000)  # the user thinks for a quarter of an hour
    monkeypatch.setattr("app.spending.monotonic", lambda: next(seconds))
    reading.spending.connect(lambda question: question.answer("send"))
    assert result_of(ask(reading, QUESTION)).answer.seconds == 0


@pytest.mark.usefixtures("priced")
def test_an_agent_that_comes_to_the_limit_keeps_its_steps_when_the_limit_is_raised(
    reading: Assistant, server: ModelServer
) -> None:
    reading.settings.set("spending.dayLimit", MOST * 1.05)
    server.script(
        Answer(
            "",
            calls=(("1", "list_tags", "{}"),),
            usage={"prompt_tokens": 100, "completion_tokens": 2_000},
        ),
        Answer("There are none."),
    )

    def raise_limit(question: LimitQuestion) -> None:
        reading.settings.set(question.key, question.new_limit)
        question.answer("raised")

    reading.spending.connect(raise_limit)
    result = result_of(ask(reading, "Which tags are there?", mode="agent"))
    assert (result.answer.text, len(list_sent(server))) == ("There are none.", 2)


@pytest.mark.usefixtures("priced")
def test_a_title_is_not_worth_a_question(
    reading: Assistant, server: ModelServer, asked: list[SpendingLimitReached]
) -> None:
    result = result_of(ask(reading, QUESTION))
    reading.settings.set("spending.monthLimit", COST * 1.01)
    assert result.session is not None
    assert reading.titles.write(result.session, CancelToken()) == ""
    assert (len(list_sent(server)), asked) == (1, [])


@pytest.mark.usefixtures("priced")
def test_a_retry_is_booked_and_a_refused_call_costs_nothing(
    reading: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chains.model.BACK_OFF_S", (0.0, 0.0))
    server.script(Failure(503), Failure(503), Answer("210 litres."))
    result_of(ask(reading, QUESTION))
    found = reading.spending.summarise()
    assert (len(list_sent(server)), found.today.calls) == (3, 3)
    assert found.today.cost == pytest.approx(COST)


@pytest.mark.usefixtures("priced")
def test_an_answer_that_breaks_off_counts_with_the_most_that_it_can_cost(
    reading: Assistant, server: ModelServer
) -> None:
    server.script(Answer("The barrel holds two hundred and ten litres.", break_after=3))
    assert result_of(ask(reading, QUESTION)).answer.end.status == "interrupted"
    assert reading.spending.summarise().today.cost >= MOST


def test_a_model_without_a_known_price_is_named_and_not_held_back(
    reading: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge_for_calls(monkeypatch, "https://models.example.org")
    reading.settings.set("spending.dayLimit", 0.01)
    result_of(ask(reading, QUESTION))
    found = reading.spending.summarise()
    assert (found.today.unpriced, found.today.cost) == (1, 0)
    assert found.describe()[-1] == (
        "1 call of this month went to models whose price is not known, and no limit holds them "
        "back: gpt-4o."
    )
    assert list_sent(server)


def test_a_model_without_a_known_price_is_held_back_where_the_user_wants_it(
    reading: Assistant,
    server: ModelServer,
    asked: list[SpendingLimitReached],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    charge_for_calls(monkeypatch, "https://models.example.org")
    reading.settings.set("spending.holdUnpriced", True)
    result_of(ask(reading, QUESTION))
    assert (len(list_sent(server)), asked) == (1, []), "no limit is set"
    reading.settings.set("spending.monthLimit", 5)
    with pytest.raises(TurnFailed) as failed:
        result_of(ask(reading, QUESTION))
    info = describe(failed.value)
    assert (info.code, "Raise" in str(info.hint)) == ("spending_limit", False)
    assert info.message.startswith("The price of gpt-4o is not known")
    assert isinstance(asked[0], UnpricedCallHeld)
    assert (len(list_sent(server)), len(asked)) == (1, 1)
    assert LimitQuestion(asked[0]).new_limit is None
    assert "they are held back now" in reading.spending.summarise().describe()[-1]
    reading.spending.connect(lambda question: note(asked, question, "send"))
    result_of(ask(reading, QUESTION))
    assert (len(list_sent(server)), len(asked)) == (2, 2)


def test_a_model_on_this_computer_is_neither_booked_nor_held_back(
    reading: Assistant, server: ModelServer
) -> None:
    reading.settings.set("spending.dayLimit", 0.000001)
    result_of(ask(reading, QUESTION))
    assert not reading.paths.spending.exists()
    assert len(list_sent(server)) == 1
