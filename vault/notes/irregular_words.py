"""List forms of words that a stemmer does not find, such as "bought" for "buy".

The full-text index finds "planted" for "plant", but not "bought" for "buy" or "decision" for
"decide". People ask "Who buys the gloves?", while their notes say "The gloves were bought by Ina".
The languages are English, German, French and Spanish.
"""

from collections.abc import Iterator
from typing import Final

__all__ = ["PARTICLES", "join_verb", "list_other_forms"]

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
    anrufen angerufen; backen gebacken; beginnen begann begonnen;
    beschliessen beschloss beschlossen beschluss beschlusse; bezahlen bezahlt bezahlte;
    bieten bot geboten; bleiben blieb geblieben; brechen bricht brach gebrochen;
    brennen brannte gebrannt; bringen brachte gebracht; denken dachte gedacht;
    einkaufen eingekauft; empfehlen empfiehlt empfahl empfohlen;
    entscheiden entschied entschieden entscheidung entscheidungen; essen isst gegessen;
    fahren fuhr gefahren; fallen fiel gefallen; fangen fing gefangen; finden fand gefunden;
    fliegen flog geflogen; geben gibt gab gegeben; gehen ging gegangen;
    gewinnen gewann gewonnen; giessen goss gegossen; graben grub gegraben;
    greifen griff gegriffen; halten hielt gehalten; heben hob gehoben; heissen hiess;
    helfen hilft half geholfen; kaufen gekauft kaufte; kennen kannte gekannt;
    kochen gekocht kochte; kommen kam gekommen; laden lud geladen; lassen liess gelassen;
    laufen lief gelaufen; leihen lieh geliehen; lesen liest gelesen; liegen lag gelegen;
    machen gemacht machte; nehmen nimmt nahm genommen; nennen nannte genannt;
    pflanzen gepflanzt pflanzte; reden geredet; reparieren repariert; rufen rief gerufen;
    saen gesat; scheinen schien; schicken geschickt; schieben schob geschoben;
    schlafen schlief geschlafen; schlagen schlug geschlagen;
    schliessen schloss geschlossen; schneiden schnitt geschnitten;
    schreiben schrieb geschrieben; sehen sieht sah gesehen; sitzen sass gesessen;
    sprechen spricht sprach gesprochen; springen sprang gesprungen; stehen gestanden;
    steigen stieg gestiegen; sterben stirbt starb gestorben; streichen strich gestrichen;
    tragen trug getragen; treffen trifft traf getroffen; trinken trank getrunken;
    verkaufen verkauft; verlieren verlor verloren; vereinbaren vereinbart;
    vergessen vergisst vergass; wachsen wuchs gewachsen; waschen wusch gewaschen;
    weisen wies gewiesen; werfen wirft warf geworfen; wiegen wog gewogen;
    wissen wusste gewusst; zahlen gezahlt zahlte; ziehen zog gezogen
"""
# The infinitive, the forms of "he" and "they" in the present, and the participle with its endings.
_FRENCH: Final = """
    ouvrir ouvre ouvrent ouvert ouverte ouverts ouvertes;
    couvrir couvre couvrent couvert couverte couverts couvertes;
    offrir offre offrent offert offerte offerts offertes;
    decouvrir decouvre decouvrent decouvert decouverte decouverts decouvertes;
    ecrire ecrit ecrivent ecrite ecrits ecrites; lire lit lisent lu lue lus lues;
    prendre prend prennent pris prise prises;
    apprendre apprend apprennent appris apprise apprises;
    comprendre comprend comprennent compris comprise comprises;
    mettre mettent mis mise mises; promettre promet promettent promis promise promises;
    vendre vend vendent vendu vendue vendus vendues;
    rendre rend rendent rendu rendue rendus rendues;
    perdre perd perdent perdu perdue perdus perdues;
    recevoir recoit recoivent recu recue recus recues;
    boire boit boivent bu bue bus bues; voir voit voient vu vue vus vues;
    tenir tient tiennent tenu tenue tenus tenues; venir vient viennent venu venue venus venues;
    construire construit construisent construite construits construites;
    conduire conduit conduisent conduite conduits conduites;
    peindre peint peignent peinte peints peintes; elire elit elisent elu elue elus elues;
    choisir choisit choisissent choisi choisie choisis choisies;
    faire fait font faite faits faites; dire dit disent dite dits dites
"""
_SPANISH: Final = """
    abrir abre abren abrio abierto abierta abiertos abiertas;
    cubrir cubre cubren cubrio cubierto cubierta cubiertos cubiertas;
    descubrir descubre descubren descubrio descubierto descubierta descubiertos descubiertas;
    escribir escribe escriben escribio escrito escrita escritos escritas;
    romper rompe rompen rompio roto rota rotos rotas;
    hacer hace hacen hizo hicieron hecho hecha hechos hechas;
    decir dice dicen dijo dijeron dicho dicha dichos dichas;
    poner pone ponen puso pusieron puesto puesta puestos puestas;
    volver vuelve vuelven volvio vuelto vuelta vueltos vueltas;
    resolver resuelve resuelven resolvio resuelto resuelta resueltos resueltas;
    ver ve ven vio vieron visto vista vistos vistas; morir muere mueren murio muerto muerta;
    freir frie frien frio frito frita fritos fritas; traer trae traen trajo trajeron traido traida;
    cerrar cierra cierran cerro cerrado cerrada; pedir pide piden pidio pedido pedida;
    servir sirve sirven sirvio servido servida; elegir elige eligen eligio elegido elegida
"""
# Words that have no other forms themselves. Some have another meaning too, as in "How do I sharpen
# a saw?". Nouns such as "death" are searched for as they are: with the forms of "die", searches of
# scientific papers were slightly worse.
_AMBIGUOUS_WORDS: Final = """
    bent bit children dead death deaths division expansion extension feet fell felt flight flights
    found geese growth knives laid led left loaves loss losses men mice oxen people proof rose sale
    sales saw shelves shot speech spoke teeth thieves thought thoughts weight weights wives wolves
    women
    bu bue bus bues dire fait font hecho hechos leaves lit mise mises pris puesto rota rote frio vu
    vue vues vista vistas vuelta vueltas ve ven rend rendu conduite prise prises
    dicht gedicht sicht gesicht recht gerecht gewicht schnitt
"""
_AMBIGUOUS: Final = frozenset(_AMBIGUOUS_WORDS.split())


def list_other_forms(word: str) -> frozenset[str]:
    """Return the base form and the other irregular forms of a word.

    The word itself is left out. For a form such as "saw", which has another meaning too, the result
    is empty. A form of the present such as "buys" has the forms of its base.

    Args:
        word: a word in lower case and without accents.
    """
    known = _FORMS.get(word)
    if known is not None or word in _AMBIGUOUS:
        return known or _NONE
    base = next((base for base in _list_bases(word) if base in _BASES), None)
    if base is not None:
        return frozenset({base, *_FORMS[base]})
    return frozenset(_list_separable(word)) or frozenset(_list_participles(word))


def _list_separable(word: str) -> Iterator[str]:
    """Yield the forms of a German verb with a particle that may be apart from it.

    The word "angefangen" has "anfangen", and also "fing", as in "Sie fing um acht an". A noun such
    as "Abstand" has none.
    """
    for particle in PARTICLES:
        verb = word.removeprefix(particle)
        if verb == word or len(verb) < _SHORTEST_VERB or verb in _AMBIGUOUS:
            continue
        forms = _list_verb_forms(verb)
        yield from forms
        yield from (f"{particle}{form}" for form in forms - {verb})


def _list_verb_forms(verb: str) -> frozenset[str]:
    """Return all forms of a German infinitive or participle, or none for another word."""
    if verb in _FORMS and verb.endswith("en"):
        return frozenset({verb, *_FORMS[verb]})
    if not (verb.startswith("ge") and verb.endswith("t")):
        return _NONE
    stem = verb.removeprefix("ge").removesuffix("t")
    if len(stem) < _SHORTEST_ROOT:
        return _NONE  # as "Gebot"
    return frozenset({f"{stem}t", f"{stem}te", f"{stem}en", verb})


def join_verb(verb: str, particle: str) -> str:
    """Join a form of a German verb with its particle, as "anfangen" for "fängt" and "an".

    Args:
        verb: the form, in lower case and without accents.
        particle: one of `PARTICLES`.

    Returns:
        The infinitive, or the participle of a regular verb. It is empty if the word is no form of a
        verb.
    """
    singular = verb.removesuffix("en")  # as in "nahmen"
    known = {verb, *list_other_forms(verb), *_FORMS.get(singular, ())}
    infinitives = (base for base in sorted(known & _BASES) if base.endswith("en"))
    if (infinitive := next(infinitives, None)) is not None:
        return f"{particle}{infinitive}"
    stem = next((verb.removesuffix(end) for end in ("te", "t") if verb.endswith(end)), "")
    return f"{particle}ge{stem}t" if stem else ""


def _list_participles(word: str) -> Iterator[str]:
    """Yield the participle of a German verb, as "gewechselt" for "wechselt", or the reverse.

    For a word of another language, this is no word, so nothing is found by it.
    """
    if len(word) < _SHORTEST_VERB or not word.endswith("t"):
        return
    if not word.startswith("ge"):
        yield f"ge{word}"
    elif len(word) >= _SHORTEST_VERB + 2:
        yield word.removeprefix("ge")


def _list_bases(word: str) -> Iterator[str]:
    """Yield the words that a word may be a regular form of in the present."""
    for ending, replaced in _ENDINGS:
        if len(word) >= len(ending) + _SHORTEST_STEM and word.endswith(ending):
            stem = word.removesuffix(ending)
            yield stem + replaced


def _add_present(group: list[str]) -> list[str]:
    """Add the form of "he" in the present to those of a German verb, as "läuft" to "laufen"."""
    stem = group[0].removesuffix("en")
    return [*group, f"{stem}et" if stem.endswith(("d", "t")) else f"{stem}t"]


def _read_forms() -> dict[str, frozenset[str]]:
    forms: dict[str, frozenset[str]] = {}
    for group in _GROUPS:
        for word in group:
            if word == group[0] or word not in _AMBIGUOUS:
                forms[word] = forms.get(word, _NONE) | frozenset(group) - {word}
    return forms


# German words that belong to a verb, and stand behind it in most sentences.
PARTICLES: Final = (
    *("ab", "an", "auf", "aus", "bei", "durch", "ein", "fest", "fort", "frei", "her", "heraus"),
    *("herein", "herum", "hin", "hinaus", "hinein", "los", "mit", "nach", "statt", "teil", "um"),
    *("vor", "voraus", "vorbei", "weg", "weiter", "wieder", "zu", "zuruck", "zusammen"),
)
# The endings of "she" in English and in German, with those of the base. Words such as "building"
# are more often nouns.
_ENDINGS: Final = (("s", ""), ("es", ""), ("et", "en"), ("t", "en"))
_SHORTEST_STEM: Final = 2
_SHORTEST_ROOT: Final = 3
_SHORTEST_VERB: Final = 5
_NONE: Final = frozenset[str]()
_GROUPS: Final = [
    *(group.split() for group in ";".join((_ENGLISH, _FRENCH, _SPANISH)).split(";")),
    *(_add_present(group.split()) for group in _GERMAN.split(";")),
]
_BASES: Final = frozenset(group[0] for group in _GROUPS)  # "seen" is none, for "set" is no form
_FORMS: Final = _read_forms()
