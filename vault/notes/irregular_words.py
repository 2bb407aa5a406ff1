"""List forms of English and German words that a stemmer does not find, such as "bought" for "buy".

The full-text index finds "planted" for "plant", but not "bought" for "buy" or "decision" for
"decide". People ask "What did I buy?", while their notes say "Bought new gloves".
"""

from typing import Final

__all__ = ["list_other_forms"]

# Each group has the base form of a word first. The other words are irregular forms and nouns.
_ENGLISH: Final = """
    become became; begin began begun; bend bent; bite bit bitten; blow blew blown;
    break broke broken; bring brought; build built; burn burnt; buy bought; catch caught;
    choose chose chosen choice choices; come came; conclude conclusion conclusions;
    decide decision decisions; deal dealt; die death deaths dead; dig dug; divide division;
    draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten;
    expand expansion; extend extension; fall fell fallen; feed fed; feel felt; fight fought;
    find found; fly flew flown flight flights; forbid forbade forbidden; forget forgot forgotten;
    freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown growth;
    hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known;
    lay laid; lead led; learn learnt; leave left; lend lent; lose lost loss losses; make made;
    mean meant; meet met; pay paid; prove proved proof; ride rode ridden; ring rang rung;
    rise rose risen; run ran; say said; see saw seen; seek sought; sell sold sale sales; send sent;
    sew sewn; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk;
    sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; sow sown;
    speak spoke spoken speech; spend spent; spill spilt; spoil spoilt; stand stood;
    steal stole stolen; stick stuck; sting stung; strike struck; swear swore sworn; sweep swept;
    swim swam swum; take took taken; teach taught; tear tore torn; tell told;
    think thought thoughts; throw threw thrown; understand understood; wake woke woken;
    wear wore worn; weave wove woven; weep wept; weigh weight weights; win won;
    withdraw withdrew withdrawn; write wrote written;
    child children; foot feet; goose geese; knife knives;
    loaf loaves; man men; mouse mice; ox oxen; person people; shelf shelves; thief thieves;
    tooth teeth; wife wives; wolf wolves; woman women
"""
# Without accents, as words are compared.
_GERMAN: Final = """
    anrufen angerufen; backen gebacken; beginnen begann begonnen; beschliessen beschlossen beschluss
    beschlusse; bezahlen bezahlt bezahlte; bleiben blieb geblieben; bringen brachte gebracht;
    einkaufen eingekauft; entscheiden entschied entschieden entscheidung entscheidungen;
    essen gegessen; fahren fuhr gefahren; finden gefunden; fliegen flog geflogen;
    geben gegeben; gehen ging gegangen; gewinnen gewann gewonnen; giessen gegossen;
    helfen geholfen; kaufen gekauft kaufte; kochen gekocht kochte; kommen kam gekommen;
    laufen lief gelaufen; leihen lieh geliehen; lesen gelesen; machen gemacht machte;
    nehmen nahm genommen; pflanzen gepflanzt pflanzte; reden geredet; reparieren repariert;
    rufen rief gerufen; saen gesat; schicken geschickt; schlafen schlief geschlafen;
    schneiden schnitt geschnitten; schreiben schrieb geschrieben; sehen gesehen;
    sprechen sprach gesprochen; treffen traf getroffen; trinken trank getrunken;
    verkaufen verkauft; verlieren verlor verloren; vereinbaren vereinbart; werfen geworfen;
    wissen wusste gewusst; zahlen gezahlt zahlte; ziehen gezogen
"""
# Words that have no other forms themselves. Some have another meaning too, as in "How do I sharpen
# a saw?". Nouns such as "death" are searched for as they are: with the forms of "die", searches of
# scientific papers were slightly worse.
_AMBIGUOUS_WORDS: Final = """
    bent bit children dead death deaths division expansion extension feet fell felt flight flights
    found geese growth knives laid led left loaves loss losses men mice oxen people proof rose sale
    sales saw shelves shot speech spoke teeth thieves thought thoughts weight weights wives wolves
    women
"""
_AMBIGUOUS: Final = frozenset(_AMBIGUOUS_WORDS.split())


def list_other_forms(word: str) -> frozenset[str]:
    """Return the base form and the other irregular forms of an English or German word.

    The word itself is left out. For a form such as "saw", which has another meaning too, the result
    is empty.

    Args:
        word: a word in lower case and without accents.
    """
    return _FORMS.get(word, _NONE)


def _read_groups() -> dict[str, frozenset[str]]:
    groups = [group.split() for group in f"{_ENGLISH};{_GERMAN}".split(";")]
    return {
        word: frozenset(group) - {word}
        for group in groups
        for word in group
        if word == group[0] or word not in _AMBIGUOUS
    }


_NONE: Final = frozenset[str]()
_FORMS: Final = _read_groups()
