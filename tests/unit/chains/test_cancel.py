import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled


def test_a_fresh_token_stops_nothing():
    token = CancelToken()
    token.raise_if_cancelled()
    assert not token.is_cancelled


def test_a_cancelled_token_raises():
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        token.raise_if_cancelled()


def test_a_callback_is_called_once_however_often_it_is_cancelled():
    token, called = CancelToken(), []
    token.on_cancel(lambda: called.append(1))
    token.cancel()
    token.cancel()
    assert called == [1]


def test_a_callback_on_a_cancelled_token_is_called_at_once():
    token, called = CancelToken(), []
    token.cancel()
    token.on_cancel(lambda: called.append(1))
    assert called == [1]


def test_a_callback_that_was_taken_away_is_not_called():
    token, called = CancelToken(), []
    forget = token.on_cancel(lambda: called.append(1))
    forget()
    token.cancel()
    assert called == []
