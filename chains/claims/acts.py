"""Check what an answer says that it did to notes, against their content at the end of the turn.

Attempts do not count: a call that failed and then succeeded has changed its note, and one that was
undone has not. If it is not known what a turn has changed, nothing is said.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from chains.citations.answer_sources import Source
from chains.claims.evidence import ClaimEvidence, tell_name
from chains.claims.facts import AnswerSentence
from chains.claims.note_acts import (
    ActKind,
    NamedNote,
    find_named,
    is_done,
)
from chains.claims.report import AnswerClaim, ClaimVerdict
from vault.edits.plan import NoteChange

__all__ = ["are_acts_read", "check_act"]

_ENGLISH: Final = (
    r"corrected|updated|changed|edited|modified|amended|adjusted|fixed|replaced|rewrote|rewritten"
    r"|appended|added|inserted|wrote|written|saved|stored|created|made|moved|renamed|removed"
    r"|deleted|marked|ticked|filled in|put"
)
_GERMAN: Final = (
    r"korrigiert|aktualisiert|geändert|bearbeitet|angepasst|ersetzt|berichtigt|verbessert|ergänzt"
    r"|hinzugefügt|eingefügt|angehängt|geschrieben|gespeichert|erstellt|angelegt|verschoben"
    r"|umbenannt|entfernt|gelöscht|eingetragen|abgehakt|notiert"
)
_FRENCH: Final = (
    r"corrigée?s?|mise?s? à jour|modifiée?s?|changée?s?|remplacée?s?|ajoutée?s?|insérée?s?"
    r"|écrite?s?|enregistrée?s?|créée?s?|déplacée?s?|renommée?s?|supprimée?s?|complétée?s?"
)
_SPANISH: Final = (
    r"corregid[oa]s?|actualizad[oa]s?|cambiad[oa]s?|modificad[oa]s?|editad[oa]s?"
    r"|reemplazad[oa]s?|añadid[oa]s?|agregad[oa]s?|insertad[oa]s?|escrit[oa]s?|guardad[oa]s?"
    r"|cread[oa]s?|movid[oa]s?|renombrad[oa]s?|eliminad[oa]s?|borrad[oa]s?"
)
_DONE: Final = rf"(?:{_ENGLISH}|{_GERMAN}|{_FRENCH}|{_SPANISH})"
# The model speaks of itself: "I have corrected", "Ich habe … korrigiert", "J'ai corrigé".
_BY_ITSELF: Final = re.compile(
    rf"\bi(?:['’]ve| have)?(?: now| just| also| successfully| already)* (?:{_ENGLISH})\b"
    rf"|\b(?:ich habe|habe ich)\b[^;:!?]{{0,160}}\b(?:{_GERMAN})\b"
    rf"|\bj['’]ai(?: bien| aussi| également)? (?:{_FRENCH})\b"
    rf"|\bhe(?: también| ya)? (?:{_SPANISH})\b"
    rf"|\b(?:añadí|corregí|actualicé|cambié|modifiqué|creé|moví|renombré|eliminé|guardé|escribí)\b",
    re.IGNORECASE,
)
_ANNOUNCED: Final = re.compile(
    rf"^[\s*_>✅✓✔-]*(?:done|erledigt|fertig|fait|c['’]est fait|hecho|listo)\b[\s*_]*[:.!,–—-]"
    rf".*\b{_DONE}\b"
    rf"|^\W*(?:\[\[[^\[\]\n]{{1,120}}\]\]|\S{{1,200}}\.md)\W+(?:{_DONE})\b",
    re.IGNORECASE,
)
# Something was done to a note or a file just now, by nobody that is named.
_PASSIVE: Final = re.compile(
    r"\b(?:notes?|files?|notiz(?:en)?|datei(?:en)?|fichiers?|notas?|archivos?|\S{1,200}\.md|\]\])\W"
    rf"[^;:!?]{{0,60}}\b(?:(?:has|have)(?: now| just| successfully)* been|(?:was|were) (?:now"
    r"|successfully)|wurden? (?:jetzt|nun|erfolgreich)|(?:ist|sind) (?:jetzt|nun)"
    rf"|(?:a|ont)(?: bien)? été|(?:ha|han) sido)\b[^;:!?]{{0,40}}\b{_DONE}\b",
    re.IGNORECASE,
)
_BY_SOMEBODY: Final = re.compile(r"\d|\b(?:by|von|par|por)\b", re.IGNORECASE)
# No act: what was not done or may be done, and what is kept in the memory.
_NO_ACT: Final = re.compile(
    r"\b(?:not|nothing|never|nicht|nichts|nie|kein\w*|ne|pas|rien|jamais|no|nada|nunca|could|would|can|will|should"
    r"|könnte|würde|kann|soll|pourrais|podría|puedo|unable|failed|tried|attempt\w*"
    r"|versucht|fehlgeschlagen|gescheitert|essayé|échoué|intentado|falló|memory|memories"
    r"|remember\w*|gedächtnis|gemerkt|mémoire|memoria)\b|n['’]t\b|\bn['’]ai\b",
    re.IGNORECASE,
)
# A condition holds for what follows it too.
_CONDITION: Final = re.compile(r"\b(?:if|unless|wenn|falls|si)\b", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r",|;|(?=\b(?:but|aber|mais|pero)\b)", re.IGNORECASE)
_TURN: Final = re.compile(r"\s*(?:but|aber|mais|pero)\b", re.IGNORECASE)
# Work on the answer itself, if no note is named.
_OWN_TEXT: Final = re.compile(
    r"\b(?:up|together|sum|total|calculation|below|above|following|summary|list|table|here|unten"
    r"|oben|folgende\w*|hier|ci-dessous|voici|abajo|siguientes?|aquí|answer|reply|response|mind|plan"
    r"|(?:updated|changed|moved) (?:you|on)|draft|e-?mail|text|sentence|paragraph|wording|spelling"
    r"|satz|phrase|frase|antwort|entwurf|réponse|respuesta)\b",
    re.IGNORECASE,
)
# What may be done to a text of the answer too, if no note is named.
_VAGUE: Final = re.compile(
    r"\b(?:added|made|put|wrote|written|marked|stored|saved|created|inserted|fixed|moved|geschrieben"
    r"|erstellt|notiert|gespeichert|ajoutée?s?|écrite?s?|créée?s?|escrit[oa]s?|cread[oa]s?)\b",
    re.IGNORECASE,
)
_NOTE_WORD: Final = re.compile(
    r"\b(?:notes?|files?|vault|notiz(?:en)?|datei(?:en)?|fichiers?|notas?|archivos?)\b",
    re.IGNORECASE,
)
# Words of English, German, French or Spanish alone, among the languages of Europe.
_COMMONEST: Final = re.compile(
    r"\b(?:the|and|this|that|with|from|your|you|has|it|see|i['’]ve|i have|notes|sources?"
    r"|und|ich|ist|nicht|eine|für|mit|auf|siehe|notiz|quellen?"
    r"|est|les|vous|une|pour|j['’]ai|voir|el|está|y|usted|véase)\b",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(
    r"\b(?P<count>\d{1,3}|two|both|three|four|five|six|seven|eight|nine|ten|zwei|beide[nr]?|drei"
    r"|vier|fünf|sechs|sieben|acht|neun|zehn|deux|trois|quatre|cinq|dos|tres|cuatro|cinco)"
    r"(?: (?:of the|of your|the|der|les|las|los))?(?: \w+)? (?:notes|files|notizen|dateien|fichiers"
    r"|notas|archivos)\b",
    re.IGNORECASE,
)
_COUNTS: Final = {
    word: number
    for number, words in enumerate(
        (
            "two both zwei beide beiden beider deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
        ),
        start=2,
    )
    for word in words.split()
}


def are_acts_read(text: str) -> bool:
    """Return whether a text is in a language in which acts are read, by its commonest words."""
    return _COMMONEST.search(text) is not None


def check_act(sentence: AnswerSentence, evidence: ClaimEvidence) -> AnswerClaim | None:
    """Check a sentence that says that the model has changed a note.

    Without tools that change notes, only a sentence that names a note is checked: others may be of
    a text in the answer itself.

    Returns:
        The checked claim, or None if the sentence says no such thing.
    """
    if sentence.is_question:
        return None
    text = sentence.text
    for clause in _list_clauses(sentence):
        targets = find_named(clause, evidence)
        if _is_act(clause, targets, evidence):
            break
    else:
        return None
    if not targets and not (evidence.can_edit and _is_of_notes(clause.text)):
        return None
    verdict, reason, places = _judge(clause, targets, evidence)
    return AnswerClaim("act", text, text, sentence.start, verdict, reason, tuple(places))


def _list_clauses(sentence: AnswerSentence) -> list[AnswerSentence]:
    """Return the parts of a sentence that each claim an act themselves, or the whole sentence.

    A part begins with an act, a turn such as "but", or a denial, and a condition before it holds.
    """
    masked, cuts = sentence.masked, [0]
    ends = sorted({match.end() for match in _CLAUSE_END.finditer(masked)} | {len(masked)})
    for start, end in pairwise(ends):
        piece = masked[start:end]
        if _TURN.match(piece) or _BY_ITSELF.search(piece) or _NO_ACT.search(piece):
            cuts.append(start)
    spans = [span for span in pairwise((*cuts, len(masked))) if span[0] < span[1]]
    if not any(_BY_ITSELF.search(sentence.text[start:end]) for start, end in spans):
        return [sentence]
    return [
        replace(sentence, text=sentence.text[start:end], masked=masked[start:end])
        for start, end in spans
        if not _CONDITION.search(masked[:start])
    ]


def _is_act(clause: AnswerSentence, targets: Sequence[NamedNote], evidence: ClaimEvidence) -> bool:
    text, bare = clause.text, clause.masked
    for target in targets:  # whose name may hold a "not"
        bare = bare.replace(target.name, " ")
    if _NO_ACT.search(bare) or _CONDITION.search(bare):
        return False
    is_passive = evidence.can_edit and _PASSIVE.search(text) and not _BY_SOMEBODY.search(text)
    return bool(_BY_ITSELF.search(text) or _ANNOUNCED.search(text) or is_passive)


def _is_of_notes(text: str) -> bool:
    """Return whether an act that names no note can only be of one."""
    is_vague = _VAGUE.search(text) and not _NOTE_WORD.search(text)
    return not is_vague and not _OWN_TEXT.search(text)


def _judge(
    sentence: AnswerSentence, targets: Sequence[NamedNote], evidence: ClaimEvidence
) -> tuple[ClaimVerdict, str, Iterable[Source]]:
    changes = evidence.changes
    if changes is None:
        return "unchecked", "not known what was changed", ()
    changed = [note for note in changes if note.is_change]
    missing = [each for each in targets if not any(each.is_of(note) for note in changed)]
    is_some_done = len(missing) < len(targets)
    if is_some_done:  # the others may be what the changed note names, but not in a list of notes
        missing = [each for each in missing if each.is_in_list]
    if (missing or not changed) and not evidence.is_complete:
        return "unchecked", "another program's tool may have changed it", ()
    if not changed:
        return "contradicted", "no note was changed", ()
    if missing:
        names = ", ".join(target.name for target in missing)
        verb = "was" if len(missing) == 1 else "were"
        return "contradicted", f"{names} {verb} not changed", _list_places(changed)
    if other := _find_other_act(targets, changed):
        if not evidence.is_complete:
            return "unchecked", "another program's tool may have changed it", ()
        return "contradicted", other, _list_places(changed)
    counted = _COUNTED.search(sentence.text)
    count = 0 if counted is None else _read_count(counted["count"])
    if count > len(changed) and evidence.is_complete:
        count_text = "1 note was" if len(changed) == 1 else f"{len(changed):,} notes were"
        return "contradicted", f"{count_text} changed", _list_places(changed)
    shown = [note for note in changed if any(each.is_of(note) for each in targets)]
    names = ", ".join(tell_name(note.path) for note in shown or changed)
    return "supported", f"changed: {names}", _list_places(shown or changed)


def _find_other_act(targets: Sequence[NamedNote], changed: Sequence[NoteChange[str]]) -> str:
    """Return what was done with a note in place of what is claimed, or an empty string."""
    for target in targets:
        own = [note for note in changed if target.is_of(note)]
        if own and not any(is_done(target.kind, note) for note in own):
            return f"{tell_name(own[0].path)} was {_tell_act(own[0])}, not {target.kind}"
    return ""


def _tell_act(note: NoteChange[str]) -> ActKind:
    kinds: tuple[ActKind, ...] = ("deleted", "created")
    is_moved = note.old_path not in ("", note.path)
    found = next((kind for kind in kinds if is_done(kind, note)), None)
    return found or ("moved" if is_moved else "changed")


def _read_count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS.get(word.lower(), 0)


def _list_places(changed: Iterable[NoteChange[str]]) -> list[Source]:
    return [Source(tell_name(note.path), note.path) for note in changed]
