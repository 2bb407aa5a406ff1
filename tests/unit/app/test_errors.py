import errno
import os
from pathlib import Path

import pytest

from app import errors
from chains import errors as chains
from chains.events import CITES_NOTHING
from context.errors import ContextHookError, ContextOverflow, MalformedEntry
from context.fixes import Fix
from vault import errors as vault

REPORT = {"used": 5, "budget": 3, "session": "made-up"}  # a layer table of one line


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ContextOverflow("too long"), "context_overflow"),
        (chains.MissingKey("OpenAI"), "missing_key"),
        (chains.RateLimited("OpenAI", retry_after_s=60), "rate_limited"),
        (chains.ModelUnavailable("127.0.0.1"), "model_unavailable"),
        (chains.BadRequest("OpenAI", reason="no"), "bad_request"),
        (chains.Offline("OpenAI"), "offline"),
        (chains.Cancelled(), "cancelled"),
        (KeyboardInterrupt(), "cancelled"),
        (vault.VaultMissing("gone"), "vault_missing"),
        (vault.VaultUnreadable("closed"), "storage"),
        (vault.NoteUnreadable("a.md", "it is gone"), "storage"),
        (vault.IndexUnusable("broken"), "storage"),
        (vault.IndexBusy("busy"), "busy"),
        (vault.UnsafePath("outside"), "bad_request"),
        (vault.ViewNotUnderstood("GROUP BY x"), "bad_request"),
        (errors.BadSetting("no"), "bad_setting"),
        (errors.SessionMissing("no"), "session_missing"),
        (errors.SessionBusy("no"), "busy"),
        (errors.VaultNotChosen(), "vault_missing"),
        (errors.NotFound("no"), "not_found"),
        (errors.InvalidRequest("no"), "bad_request"),
        (errors.NoKeyring("no"), "bad_request"),
        (errors.StorageFailed("no"), "storage"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "storage"),
        (vault.EmbedderFailed("The model's file is damaged."), "model_unavailable"),
        (MalformedEntry("x"), "internal"),
        (ZeroDivisionError("x"), "internal"),
    ],
)
def test_every_error_has_its_code_and_a_sentence(error: BaseException, code: str) -> None:
    info = errors.describe(error)
    assert info.code == code
    assert info.message
    assert "\n" not in info.message


def test_only_broken_parts_of_the_program_itself_count_as_bugs() -> None:
    kinds = [*vars(chains).values(), *vars(vault).values()]
    known = {
        kind
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, (chains.ModelError, vault.VaultError))
    }
    assert {kind.__name__ for kind in known - errors._CODES.keys()} == {
        *("ModelError", "VaultError"),
        *("RerankerFailed", "VectorStoreFailed", "ChildDied", "ChildRefused"),
    }


def test_an_embedding_model_that_fails_is_no_bug_and_has_a_way_out() -> None:
    failed = vault.EmbedderFailed("The embedding model cannot be used: its files are damaged.")
    info = errors.describe(failed)
    assert not errors.is_bug(failed)
    assert info.message == str(failed)

    assert "embedding.model" in info.word_hint()


@pytest.mark.parametrize(
    "sentence", [str(errors.VaultNotChosen()), CITES_NOTHING], ids=["vault", "cites"]
)
def test_a_sentence_that_several_parts_say_is_made_in_one_place(sentence: str) -> None:
    root = Path(errors.__file__).parents[1]
    files = [path for name in ("app", "chains", "ui") for path in (root / name).rglob("*.py")]
    assert len([path for path in files if sentence in path.read_text("utf-8")]) == 1


def test_an_overflow_carries_its_layer_table_and_its_ways_out() -> None:
    info = errors.describe(
        ContextOverflow("too long", REPORT, (Fix("Split it."), Fix("Raise it.")))
    )
    assert info.word_hint() == "Split it. Raise it."
    assert info.context is not None
    assert info.context["used"] == 5


def test_a_failed_turn_says_why_and_in_which_chat() -> None:
    reason = chains.ModelUnavailable("127.0.0.1")
    document = errors.describe(errors.TurnFailed(reason, "1a2b3c4d")).to_dict()
    assert document["code"] == "model_unavailable"
    assert document["session"] == "1a2b3c4d"


def test_a_failed_turn_without_a_chat_has_a_null_there() -> None:
    reason = ContextOverflow("too long", REPORT)
    document = errors.describe(errors.TurnFailed(reason, None)).to_dict()
    assert document["session"] is None
    assert document["context"]["session"] is None


def test_other_failures_name_no_chat() -> None:
    assert set(errors.describe(errors.NotFound("no")).to_dict()) == {"code", "message"}


def test_a_bug_says_where_the_log_is(strata_home: Path) -> None:
    info = errors.describe(ZeroDivisionError("division by zero"))

    assert str(strata_home / "state" / "strata.log") in info.word_hint()
    assert "ZeroDivisionError" in info.message


def test_a_file_that_cannot_be_used_has_a_way_out() -> None:
    for number, hint in ((errno.EACCES, "permissions"), (errno.EISDIR, "Move it away")):
        info = errors.describe(OSError(number, "text of the system", "/data/x"))

        assert hint in info.word_hint()
    failed = chains.LedgerFailed("127.0.0.1", "It is full.")
    assert errors.describe(failed).hint


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_called_that(number: int) -> None:
    info = errors.describe(OSError(number, "text of the system", "/data/x"))
    assert info.message.startswith("The disk is full: /data/x")


def test_a_hook_that_failed_says_what_came_of_it_and_how_to_switch_it_off() -> None:
    info = errors.describe(ContextHookError("marker", "before_request", "no such luck"))
    assert (info.code, info.message) == (
        "hook_failed",
        'The hook "marker" failed at before_request: no such luck.',
    )

    assert info.word_hint().startswith("Nothing was sent. ")
    late = errors.describe(ContextHookError("marker", "turn_end"))

    assert late.word_hint().startswith("The answer is kept. ")


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EROFS, "Make its disk writable, and try again."),
        (errno.EACCES, "Change its permissions, and try again."),
    ],
)
def test_the_hint_names_what_keeps_a_file_from_being_written(number: int, hint: str) -> None:
    failed = errors.build_storage_error(Path("/notes/a.md"), OSError(number, os.strerror(number)))
    assert errors.describe(failed).word_hint() == hint
