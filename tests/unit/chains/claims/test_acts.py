"""What an answer says that it did, against the contents of notes at the end of the turn."""

import pytest

from chains.claims.check import check_claims
from chains.claims.evidence import ClaimEvidence, EvidenceText
from tests.support.sessions.sent_text import send_text
from vault.edits.plan import NoteChange

READ = tuple(
    send_text(f"{title} has 4 TB.", f"House/{title}.md", number, version="old")
    for number, title in enumerate(("Backups", "Boiler", "Garden"), start=1)
)
BACKUPS = NoteChange("House/Backups.md", "", "old", "new")
BOILER = NoteChange("House/Boiler.md", "", "old", "new")


def judge(
    answer: str, *changes: NoteChange[str], can_edit: bool = True, is_complete: bool = True
) -> tuple[str, str]:
    evidence = ClaimEvidence(READ, changes, can_edit=can_edit, is_complete=is_complete)
    (act,) = [claim for claim in check_claims(answer, evidence).claims if claim.kind == "act"]
    return act.verdict, act.reason


@pytest.mark.parametrize(
    "answer",
    [
        "I have corrected [[Backups]].",
        "Done: I corrected the size in House/Backups.md.",
        "I've updated **Backups** for you.",
        "Ich habe die Notiz Backups korrigiert.",
        "Jetzt habe ich Backups.md aktualisiert.",
        "J'ai mis à jour la note Backups.",
        "He actualizado la nota Backups.",
        "- Backups.md: corrected",
        "The note Backups has been updated.",
        "Done: the note is corrected.",
        "I added a link to [[Garden]] in `./house\\backups.md`.",
    ],
)
def test_a_changed_note_supports_what_is_said_of_it(answer: str) -> None:
    assert judge(answer, BACKUPS) == ("supported", "changed: Backups")
    assert judge(answer)[0] == "contradicted"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I have corrected Backups and Boiler.", "Boiler was not changed"),
        (
            "I have corrected Backups.md, Boiler.md and Garden.md.",
            "Boiler, Garden were not changed",
        ),
        ("I updated Garden.", "Garden was not changed"),
        ("I created the file Projects/New.md.", "Projects/New.md was not changed"),
        ("I changed both notes.", "1 note was changed"),
        ("Ich habe drei Notizen aktualisiert.", "1 note was changed"),
    ],
)
def test_what_was_not_done_is_contradicted(answer: str, reason: str) -> None:
    verdict, told = judge(answer, BACKUPS)
    assert (verdict, told.replace(".md", "")) == ("contradicted", reason.replace(".md", ""))


def test_nothing_is_said_where_it_is_not_known_what_was_changed() -> None:
    evidence = ClaimEvidence(READ, None, can_edit=True)
    (act,) = check_claims("I have corrected [[Backups]].", evidence).claims
    assert (act.verdict, act.reason) == ("unchecked", "not known what was changed")
    assert judge("I have corrected Backups.", is_complete=False)[0] == "unchecked"
    assert judge("I have corrected Backups.", BACKUPS, is_complete=False)[0] == "supported"


def test_a_change_that_was_taken_back_is_none() -> None:
    assert judge("I have corrected Backups.", NoteChange("House/Backups.md", "", "old", "old")) == (
        "contradicted",
        "no note was changed",
    )


def test_a_moved_note_is_known_by_both_names() -> None:
    moved = NoteChange("Archive/Backups.md", "House/Saves.md", "old", "old")
    assert judge("I moved House/Saves.md to Archive/Backups.md.", moved)[0] == "supported"


@pytest.mark.parametrize(
    "answer",
    [
        "I have not changed Backups.",
        "I could have corrected Backups.",
        "I tried and failed: I updated nothing.",
        "Have I corrected Backups?",
        "I added up the figures of the notes below.",
        "I have saved that to my memory.",
        "Ich habe Backups nicht geändert.",
        "I searched Backups and read Boiler.",
        "You updated Backups yesterday.",
        "> I have corrected Backups.",
        "Done: 3 notes were found.",
        "I've added the amounts: 5 + 7.",
        "I changed my mind.",
        "I have updated you on the garden.",
        "I corrected the spelling of the text.",
        "I've moved the meeting to Friday.",
        "I have written the e-mail.",
        "The file plan.md was created by Tom.",
        "The note Backups has been updated by Tom.",
        "Backups.md was updated on 3 May.",
    ],
)
def test_what_is_no_act_is_not_judged(answer: str) -> None:
    report = check_claims(answer, ClaimEvidence(READ, (), can_edit=True))
    assert [claim for claim in report.claims if claim.kind == "act"] == []


@pytest.mark.parametrize(
    "answer",
    [
        "I have corrected the text: it reads well now.",
        "I added a table below.",
        "The note Backups was updated on 3 May.",
        "Done: here is the summary.",
    ],
)
def test_without_tools_only_a_sentence_that_names_a_note_is_judged(answer: str) -> None:
    report = check_claims(answer, ClaimEvidence(READ, ()))
    assert [claim for claim in report.claims if claim.kind == "act"] == []
    assert judge("I have corrected the note Backups.", can_edit=False)[0] == "contradicted"


def test_what_was_read_before_an_edit_says_so() -> None:
    written = EvidenceText("Backups has 8 TB.", "Backups", origin="edit")
    evidence = ClaimEvidence((*READ, written), (BACKUPS,), can_edit=True)
    told = {claim.text: claim.reason for claim in check_claims("4 TB, now 8 TB.", evidence).claims}
    assert told == {"4 TB": "in Backups, line 1, as read before the change", "8 TB": "in Backups"}


GONE = NoteChange("House/Backups.md", "", "old", None)
NEW = NoteChange("House/Backups.md", "", None, "new")
MOVED = NoteChange("Archive/Backups.md", "House/Backups.md", "old", "old")


@pytest.mark.parametrize(
    ("answer", "done", "kind"),
    [
        ("I've deleted Backups.md.", GONE, "deleted"),
        ("I removed the note [[Backups]].", GONE, "deleted"),
        ("Ich habe Backups.md gelöscht.", GONE, "deleted"),
        ("- Backups.md: deleted", GONE, "deleted"),
        ("J'ai supprimé la note Backups.", GONE, "deleted"),
        ("I created Backups.md.", NEW, "created"),
        ("I have created a new note called **Backups**.", NEW, "created"),
        ("He creado la nota Backups.", NEW, "created"),
        ("The note Backups.md has been created.", NEW, "created"),
        ("I have moved Backups.md to Archive/Backups.md.", MOVED, "moved"),
        ("Ich habe die Notiz Backups umbenannt.", MOVED, "moved"),
    ],
)
def test_an_act_of_another_kind_is_contradicted(
    answer: str, done: NoteChange[str], kind: str
) -> None:
    assert judge(answer, done)[0] == "supported"
    assert judge(answer, BACKUPS) == ("contradicted", f"Backups was changed, not {kind}")
    assert judge(answer, BACKUPS, is_complete=False)[0] == "unchecked"


@pytest.mark.parametrize(
    "answer",
    [
        "I deleted the table in Backups.md.",
        "I have removed two lines from [[Backups]].",
        "I created a list in Backups.md.",
        "I moved the heading of Backups.md up.",
        "Ich habe in Backups.md eine Zeile gelöscht.",
        "Ich habe den Absatz aus Backups gelöscht.",
    ],
)
def test_a_part_that_was_deleted_created_or_moved_is_a_change(answer: str) -> None:
    assert judge(answer, BACKUPS) == ("supported", "changed: Backups")


def test_all_notes_of_a_list_were_deleted() -> None:
    told = judge("I deleted Backups.md and Boiler.md.", GONE, BOILER)
    assert told == ("contradicted", "Boiler was changed, not deleted")


@pytest.mark.parametrize(
    "answer",
    [
        "I haven't changed Backups, but I've deleted Boiler.md.",
        "I have deleted Boiler.md, but I could not find the other one.",
        "I did not touch the garden, I have updated Boiler.md.",
        "I have updated Boiler.md, not Garden.md.",
        "Ich habe nichts gesucht, aber ich habe Boiler.md geändert.",
        "Je n'ai pas changé Backups, mais j'ai modifié Boiler.md.",
        "No he cambiado Backups, pero he modificado Boiler.md.",
        "I've deleted Boiler.md but never read it.",
    ],
)
def test_what_is_denied_beside_an_act_does_not_hide_it(answer: str) -> None:
    assert judge(answer, BACKUPS) == ("contradicted", "Boiler.md was not changed")


@pytest.mark.parametrize(
    "answer",
    [
        "If you allow it, I have changed Boiler.md.",
        "Ich habe, wie gewünscht, Backups nicht geändert.",
        "I have changed nothing in Backups, and not in Boiler.md.",
        "I've not changed Backups, nor Boiler.md.",
    ],
)
def test_a_denial_or_a_condition_is_no_act(answer: str) -> None:
    report = check_claims(answer, ClaimEvidence(READ, (), can_edit=True))
    assert [claim for claim in report.claims if claim.kind == "act"] == []


@pytest.mark.parametrize(
    "answer",
    [
        "Ik heb Backups.md bijgewerkt.",
        "Ho modificato [[Backups]].",
        "Atualizei [[Backups]].",
        "Я обновил [[Backups]].",
        "已更新 [[Backups]]。",
        "Zaktualizowałem Backups.md.",
        "Uppdaterade [[Backups]].",
        "Poprawiłem [[Backups]] i zapisałem.",
        "Ho aggiornato le note: [[Backups]].",
        "Jeg har opdateret et tal i [[Backups]].",
    ],
)
def test_a_note_is_not_supported_where_acts_are_not_read(answer: str) -> None:
    evidence = ClaimEvidence(READ, (), can_edit=True)
    assert {each.verdict for each in check_claims(answer, evidence).claims} == {"unchecked"}
    told = check_claims(answer, ClaimEvidence(READ, (), can_edit=False)).claims
    assert "supported" in {each.verdict for each in told}


def test_a_note_is_supported_where_acts_are_read() -> None:
    evidence = ClaimEvidence(READ, (), can_edit=True)
    for answer in ("See [[Backups]].", "The disk is told of in [[Backups]].", "Siehe [[Backups]]."):
        assert [each.verdict for each in check_claims(answer, evidence).claims] == ["supported"]
