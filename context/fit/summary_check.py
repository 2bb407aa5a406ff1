"""Check that a summary says something of the turns that it replaces.

A summary replaces the turns for good, so that one that only announces what the model will do, or
that names nothing of what was said, must not be stored. The check needs no model.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from context.carry_forward import split_sentences
from context.errors import SummaryRefused
from context.history.turns import MeasuredTurn
from context.messages import list_message_texts

MOST_PROMISE_CHARS: Final = 400
FEW_FACTS: Final = 2  # where there are no more, words in common are enough
LEAST_SHARED_WORDS: Final = 2
LEAST_SHARED_CHARS: Final = 5
LEAST_STEM_CHARS: Final = 4
LEAST_NAME_CHARS: Final = 2
MOST_PATH_CHARS: Final = 120

# Numbers of one digit are left out, since each list has them.
_NUMBER: Final = re.compile(r"\d(?:[\d.,:/-]*\d)")
_EXTENSION: Final = re.compile(r"\.(?:md|markdown|txt|pdf|docx?|png|jpe?g|csv|html?|canvas)\b")
_PATH_END: Final = re.compile(r"[\w./-]*\w\Z")
_QUOTED: Final = re.compile(r"\[\[([^\]|#\n]{2,80})|[「『《]([^」』》\n]{2,40})[」』》]")
_KATAKANA: Final = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LABEL: Final = re.compile(r"[^\W\d_][^:：\n]{1,30}[:：]\s*\S")
_FILLER: Final = re.compile(
    r"(?:(?:ok(?:ay)?|sure|certainly|of course|all right|alright|gut|klar|natürlich|bien sûr|claro"
    r"|certo|хорошо|конечно|好的?|はい|네|tamam)\b)?[\s,.!:;，、。！—–*_#>-]*"
)
# How sentences begin that only announce what their writer will do, one row for some languages.
_ANNOUNCEMENTS: Final = (
    r"(?:first|now|next)?,? ?(?:i(?:['’]ll| will| shall| am going to|['’]m going to| am now"
    r"|['’]m now)|let(?:['’]s| me| us)) ",
    r"(?:hang on|hold on|one moment|just a (?:moment|second)|give me a)\b",
    r"(?:zuerst |jetzt |nun |dann )?(?:ich (?:werde|schaue|sehe|suche|lese|prüfe|muss|kann)"
    r"|(?:werde|schaue|sehe|suche|lese|prüfe) ich|lass(?:en sie)? mich) ",
    r"(?:d'abord |maintenant )?,? ?(?:je (?:vais|regarde|cherche|vérifie|dois)"
    r"|laisse[zr]?[- ]moi|permettez[- ]moi) ",
    r"(?:primero |ahora )?,? ?(?:voy a|vamos a|déjame|déjeme|permíteme|buscaré|revisaré) ?",
    r"(?:primeiro |agora )?,? ?(?:vou|irei|vamos|deixe[- ]me|deixa[- ]me) ",
    r"(?:prima |ora )?,? ?(?:vado a|cerco|controllo|guardo|cercherò|controllerò|lasciami|fammi) ?",
    r"(?:eerst |nu )?,? ?(?:ik (?:zal|ga|zoek|kijk|moet)|laat me|laten we) ",
    r"(?:nu )?(?:jag (?:ska|kommer att|letar|kollar)|jeg (?:vil|skal|kigger|ser)|låt mig|la meg"
    r"|lad mig) ",
    r"(?:podívám|zkontroluji|vyhledám|přečtu)|(?:einen moment|un momento|un moment|een moment)\b",
    r"(?:zaraz |teraz )?(?:sprawdzę|poszukam|zobaczę|przeczytam|pozwól)",
    r"(?:сейчас|теперь|сначала)?,? ?(?:я )?(?:посмотрю|проверю|поищу|найду|прочитаю|узнаю|буду"
    r"|собираюсь|давайте|позвольте)",
    r"(?:зараз )?(?:я )?(?:перевірю|подивлюсь|пошукаю|знайду)",
    r"(?:我|现在|接下来|首先|先|马上|稍等){0,3}(?:让我|我来|我会|我将|我要|我先|我去|我现在|我这就|我马上)",
    r"(?:سأ|سوف|دعني|لنبحث)|(?:אני )?(?:אבדוק|אחפש|הולך ל|אקרא|תן לי)",
    r"(?:tôi|mình) sẽ |để tôi |saya akan |biarkan saya |mari (?:saya|kita) ",
    r"(?:minä )?(?:tarkistan|katson|etsin) |megnézem|utánanézek|θα (?:ελέγξω|ψάξω|δω)",
)
# How such sentences end, in languages that have the verb there.
_ENDINGS: Final = (
    r"(?:調べ|確認|検索|探し|見て|読ん|お調べ)[^。]{0,12}(?:ます|みます|ましょう)",
    r"(?:확인|검색|찾아|조사|살펴)[^.]{0,10}(?:겠습니다|볼게요|할게요|보겠습니다)",
    r"(?:bak|ara|kontrol ed|incele)[^\s]{0,4}ca[ğk][^\s]{0,3}|(?:ूँ|ूं)ग[ाी]",
)
# What may also begin a sentence that says something, so that a text of nothing else is a promise.
_DOUBTFUL: Final = re.compile(
    r"(?:first|now|next)?,? ?(?:i(?:['’]m| am)? (?:need to|have to|must|should|would|checking"
    r"|looking|searching|reading|about to) |(?:checking|looking|searching|reading)\b"
    r"(?!.*\b(?:is|are|was|were|has|have|had|shows|showed)\b))"
)
_BEGINS: Final = re.compile("|".join(f"(?:{one})" for one in _ANNOUNCEMENTS))
_ENDS: Final = re.compile("|".join(f"(?:{one})\\W*$" for one in _ENDINGS))


def examine_summary(text: str, turns: Sequence[MeasuredTurn]) -> None:
    """Check that a model's summary can replace turns.

    Args:
        text: the summary.
        turns: the turns that it replaces.

    Raises:
        SummaryRefused: when the summary is empty, only announces something, or contains no name,
            number or path of the turns, although they have some.
    """
    if not text.strip():
        raise SummaryRefused("The summary is empty.")
    if is_promise(text):
        raise SummaryRefused("The summary only says what the model will do.")
    turn_text = "\n".join(_list_texts(turns))
    facts = find_facts(turn_text)
    is_named = not facts or _mentions_any(text, facts)
    if not is_named and (len(facts) > FEW_FACTS or not _shares_words(text, turn_text)):
        raise SummaryRefused("The summary names nothing of what it stands for.")


def is_promise(text: str) -> bool:
    """Return whether a text only announces what its writer will do, or a text that is missing.

    Longer texts, and texts with labelled lines such as `Open: …`, are summaries.
    """
    body = text.strip()
    if len(body) > MOST_PROMISE_CHARS:
        return False
    if "\n" not in body and body.endswith((":", "：")):
        return True
    sentences = [one for one in split_sentences(body) if _WORD.search(one)]
    if any(_LABEL.match(_strip_filler(sentence)) for sentence in sentences):
        return False
    certain = [_is_announcement(sentence) for sentence in sentences]
    doubtful = [bool(_DOUBTFUL.match(_strip_filler(one.casefold()))) for one in sentences]
    return any(certain) or (bool(sentences) and all(doubtful))


def _is_announcement(sentence: str) -> bool:
    folded = sentence.casefold()
    return bool(_BEGINS.match(_strip_filler(folded)) or _ENDS.search(folded))


def _strip_filler(sentence: str) -> str:
    match = _FILLER.match(sentence.casefold())
    return sentence[match.end() :] if match else sentence


def find_facts(text: str) -> frozenset[str]:
    """Return the names, numbers and paths in a text, in lower case.

    A name is a word with a capital letter within a sentence. In scripts without capital letters,
    names in quotation marks, names in Katakana and foreign words are found.
    """
    found = {*_NUMBER.findall(text), *find_paths(text), *_KATAKANA.findall(text)}
    found |= {name.strip() for pair in _QUOTED.findall(text) for name in pair if name.strip()}
    return frozenset(fact.casefold() for fact in (*found, *find_names(text)))


def find_paths(text: str) -> Iterator[str]:
    """Yield the paths and names of files in a text that have a known extension."""
    for match in _EXTENSION.finditer(text):
        # Texts without blanks may be long, so that only a part of them is searched.
        before = text[max(0, match.start() - MOST_PATH_CHARS) : match.start()]
        if start := _PATH_END.search(before):
            yield start.group() + match.group()


def find_names(text: str) -> Iterator[str]:
    """Yield the words that are names in a text: those with a capital letter within a sentence."""
    for match in _WORD.finditer(text):
        word, before = match.group(), text[max(0, match.start() - 3) : match.start()].rstrip(" ")
        is_inside = before[-1:].isalnum() or before.endswith((",", "、"))
        is_name = word[0].isupper() and (is_inside or word[1:].isupper())
        if is_name and len(word) >= LEAST_NAME_CHARS:
            yield word


def _mentions_any(text: str, facts: Iterable[str]) -> bool:
    folded = text.casefold()
    return any(_shorten_fact(fact) in folded for fact in facts)


def _shares_words(text: str, turn_text: str) -> bool:
    """Return whether a summary has several longer words of what it stands for."""
    words = {word for word in _WORD.findall(text.casefold()) if len(word) >= LEAST_SHARED_CHARS}
    folded = turn_text.casefold()
    return sum(_shorten_fact(word) in folded for word in words) >= LEAST_SHARED_WORDS


def _shorten_fact(fact: str) -> str:
    """Return what is searched for of a fact: a path without its folders, a word without its ending.

    Many languages change the endings of names.
    """
    is_path = any(match.end() == len(fact) for match in _EXTENSION.finditer(fact))
    name = fact.rsplit("/", 1)[-1].rsplit(".", 1)[0] if is_path else fact
    if not name.isalpha():
        return name
    return name[: max(LEAST_STEM_CHARS, len(name) - 2)]


def _list_texts(turns: Sequence[MeasuredTurn]) -> Iterator[str]:
    for turn in turns:
        yield from (segment.source for segment in turn.turn.segments)
        for message in turn.messages:
            yield from list_message_texts(message)
