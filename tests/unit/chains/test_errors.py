import pytest

from chains.errors import (
    BadRequest,
    Cancelled,
    ChainError,
    MissingKey,
    ModelUnavailable,
    Offline,
    RateLimited,
)

ERRORS = [
    Cancelled(),
    MissingKey("OpenAI"),
    MissingKey("OpenAI", is_refused=True),
    RateLimited("OpenAI", retry_after_s=60),
    RateLimited("OpenAI", retry_after_s=None),
    ModelUnavailable("127.0.0.1:8080"),
    ModelUnavailable("127.0.0.1:8080", reason="it took too long"),
    BadRequest("OpenAI", reason="temperature must be 1"),
    Offline("api.openai.com"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_error_is_of_one_tree_and_says_what_happened(error):
    assert isinstance(error, ChainError)
    assert 10 < len(str(error)) < 200
    assert "  " not in str(error)


@pytest.mark.parametrize("error", ERRORS[1:], ids=lambda error: type(error).__name__)
def test_every_model_error_names_who_was_asked(error):
    assert error.service in str(error)


@pytest.mark.parametrize(
    ("service", "advice"),
    [
        ("127.0.0.1:8080", "start it"),
        ("localhost", "start it"),
        ("models.lan", "start it"),
        ("OpenAI", "check the network"),
    ],
)
def test_only_a_server_of_the_users_own_is_to_be_started(service, advice):
    error = ModelUnavailable(service, reason="nothing answers at that address")
    assert f"{advice} and try again" in str(error)
