from hypothesis import given
from hypothesis import strategies as st

from context.fit.drop import fit_for_now, fit_turns, fit_without_guarantee
from context.history.boundaries import Epoch, count_dropped_turns
from context.history.turns import MeasuredTurn, list_turns
from context.log.entries import DropEntry, MessageEntry
from context.messages import Message
from tests.support.sessions.chats import TIME


def history(*sizes, unanswered=()):
    """Turns of the given sizes; those at the positions in `unanswered` have no answer."""
    path = []
    for at, _ in enumerate(sizes):
        path.append(MessageEntry(f"q{at}", None, TIME, Message("user", "?"), f"t{at}"))
        if at not in unanswered:
            answer = Message("assistant", "!")
            path.append(MessageEntry(f"a{at}", f"q{at}", TIME, answer, f"t{at}"))
    found = list_turns(path)
    return [
        MeasuredTurn(turn, turn.messages, size) for turn, size in zip(found, sizes, strict=True)
    ]


def sizes(turns_):
    return [turn.tokens for turn in turns_]


def drop(up_to, budget):
    return DropEntry("d", None, TIME, up_to, 2, 1, "room", budget)


def test_what_fits_stays_whole():
    fitted = fit_turns(history(10, 20, 30), 60)
    assert sizes(fitted.kept) == [10, 20, 30]
    assert fitted.dropped == ()


def test_the_oldest_turns_leave_first():
    fitted = fit_turns(history(10, 20, 30), 50)
    assert sizes(fitted.kept) == [20, 30]
    assert sizes(fitted.dropped) == [10]


def test_dropping_keeps_the_newest_turn():
    assert sizes(fit_turns(history(10, 20, 300), 50).kept) == [300]
    assert sizes(fit_turns(history(10, 20, 300), -5).kept) == [300]


def test_dropping_keeps_the_last_answered_turn_and_what_follows():
    turns_ = history(10, 20, 300, 40, unanswered=(3,))
    assert sizes(fit_turns(turns_, 0).kept) == [300, 40]


def test_where_nothing_was_answered_the_last_question_stays():
    assert sizes(fit_turns(history(10, 20, unanswered=(0, 1)), 0).kept) == [20]


def test_no_history_fits_anything():
    assert fit_turns([], 0).kept == ()
    assert fit_for_now([], 0).kept == ()
    assert fit_without_guarantee([], 0).kept == ()


def test_for_one_request_unanswered_questions_may_go_too():
    fitted = fit_for_now(history(10, 20, 300, 40, 50, unanswered=(3, 4)), 360)
    assert sizes(fitted.kept) == [300, 50]
    assert sizes(fitted.dropped) == [10, 20, 40]


def test_for_one_request_nothing_goes_that_need_not():
    fitted = fit_for_now(history(10, 20, 300, 40, unanswered=(3,)), 360)
    assert sizes(fitted.kept) == [20, 300, 40]


def test_without_the_guarantee_everything_may_go():
    fitted = fit_without_guarantee(history(10, 20), 5)
    assert fitted.kept == ()
    assert sizes(fitted.dropped) == [10, 20]


@given(st.lists(st.integers(0, 100), max_size=12), st.integers(-10, 500), st.data())
def test_every_fit_splits_the_turns_and_drops_no_more_than_needed(tokens, room, data):
    unanswered = data.draw(st.sets(st.sampled_from(range(len(tokens))))) if tokens else ()
    turns_ = history(*tokens, unanswered=unanswered)
    for fit in (fit_turns, fit_for_now, fit_without_guarantee):
        fitted = fit(turns_, room)
        assert sorted(map(id, (*fitted.kept, *fitted.dropped))) == sorted(map(id, turns_))
        if fitted.dropped:
            assert sum(sizes(fitted.kept)) + fitted.dropped[-1].tokens > room


def test_without_drops_nothing_rests():
    assert count_dropped_turns([], history(1, 2), Epoch(100, "m")) == 0


def test_a_drop_leaves_out_what_stands_before_its_entry():
    turns_ = history(1, 2, 3)
    assert count_dropped_turns([drop("q2", 100)], turns_, Epoch(100, "m")) == 2


def test_the_furthest_drop_counts():
    turns_ = history(1, 2, 3)
    assert count_dropped_turns([drop("q1", 100), drop("q2", 100)], turns_, Epoch(100, "m")) == 2


def test_a_drop_binds_smaller_budgets_but_no_larger_one():
    turns_ = history(1, 2, 3)
    assert count_dropped_turns([drop("q2", 100)], turns_, Epoch(99, "m")) == 2
    assert count_dropped_turns([drop("q2", 100)], turns_, Epoch(101, "m")) == 0
    assert count_dropped_turns([drop("q1", 101), drop("q2", 100)], turns_, Epoch(101, "m")) == 1


def test_a_drop_without_a_budget_always_binds():
    turns_ = history(1, 2, 3)
    assert count_dropped_turns([drop("q1", None)], turns_, Epoch(10**6, "m")) == 1


def test_a_drop_that_names_an_entry_elsewhere_changes_nothing():
    turns_ = history(1, 2)
    assert count_dropped_turns([drop("gone", 100)], turns_, Epoch(100, "m")) == 0
