"""What is not paid is found, whether a property is false, or says "unpaid" or its opposite."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Bills/Heating.md": "---\npaid: false\n---\nThe bill of the heating.\n",
    "Bills/Phone.md": "---\npaid: true\n---\nThe bill of the phone.\n",
    "Projects/Shed.md": "---\ntags: [project]\nstatus: unpaid\n---\nA shed.\n",
    "Projects/Boat.md": "---\ntags: [project]\nstatus: paid\n---\nA boat.\n",
    "Projects/Hut.md": "---\ntags: [project]\nstatus: open\n---\nA hut.\n",
    "R1.md": "---\ntags: [rechnung]\nbezahlt: false\n---\nStrom.\n",
    "R2.md": "---\ntags: [rechnung]\nbezahlt: true\n---\nWasser.\n",
    "F1.md": "---\ntags: [quittance]\nétat: impayée\n---\nGaz.\n",
    "F2.md": "---\ntags: [quittance]\nétat: payée\n---\nEau.\n",
    "C1.md": "---\ntags: [recibo]\nestado: impagado\n---\nLuz.\n",
    "C2.md": "---\ntags: [recibo]\nestado: pagado\n---\nAgua.\n",
    "Letters/A.md": "---\ntags: [letter]\nanswer: not sent\n---\nTo the landlord.\n",
    "Letters/B.md": "---\ntags: [letter]\nanswer: sent\n---\nTo the bank.\n",
    "Log.md": "# Log\n\n- [ ] Pay the plumber\n- [x] Pay the baker\n",
}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which bills have not been paid?", {"Heating"}),
        ("Which bills aren't paid yet?", {"Heating"}),
        ("Which bills are unpaid?", {"Heating"}),
        ("List all unpaid bills", {"Heating"}),
        ("Which bills are paid?", {"Phone"}),
        ("Which projects have not been paid?", {"Shed", "Hut"}),
        ("Which projects are unpaid?", {"Shed"}),
        ("Which projects are paid?", {"Boat"}),
        ("Welche Rechnungen sind noch nicht bezahlt?", {"R1"}),
        ("Welche Rechnungen wurden noch nicht bezahlt?", {"R1"}),
        ("Welche Rechnungen sind unbezahlt?", {"R1"}),
        ("Quelles quittances n'ont pas été payées ?", {"F1"}),
        ("Quelles quittances ne sont pas encore payées ?", {"F1"}),
        ("Quelles quittances sont impayées ?", {"F1"}),
        ("¿Qué recibos no se han pagado?", {"C1"}),
        ("¿Qué recibos no están pagados todavía?", {"C1"}),
        ("¿Qué recibos están impagados?", {"C1"}),
        ("Which letters have not been sent?", {"A"}),
    ],
)
def test_what_is_in_a_state_or_not_is_listed(
    answer: Asking, question: str, found: set[str]
) -> None:
    text = answer(question).text
    names = {path.rpartition("/")[2].removesuffix(".md") for path in NOTES}
    assert {name for name in names if f"\n- {name}:" in text} == found
    assert text.startswith(f"{len(found)} note")


@pytest.mark.parametrize(
    "question",
    [
        "Which invoices have not been paid?",
        "Welche Handwerker wurden noch nicht bezahlt?",
        "Quels artisans n'ont pas été payés ?",
        "¿Qué obreros no han cobrado?",
    ],
)
def test_what_the_vault_has_no_name_for_is_searched(answer: Asking, question: str) -> None:
    assert not answer(question).text.startswith("No note")
