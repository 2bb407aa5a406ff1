import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import ReadingFailed
from vault.notes.encodings import DecodedText, decode_text, normalize_line_ends

FRENCH = "L'été, la forêt était déjà jaune. « Où ? » — “non”, œuvre à 5 €\r\n"


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"],
)
def test_western_text_is_read_and_can_be_written_back_to_the_byte(encoding: str) -> None:
    data = FRENCH.encode(encoding)
    decoded = decode_text(data)
    assert decoded.text == FRENCH
    assert decoded.mark + decoded.text.encode(decoded.encoding) == data


def test_latin_1_is_read_as_what_windows_makes_of_it() -> None:
    assert decode_text("Größe und Übermut".encode("latin-1")).text == "Größe und Übermut"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Привет, мир! Это обычный текст", "cp1251"),
        ("Привет, мир! Это обычный текст", "koi8-r"),
        ("Išla je češnja pored kuće, šuma", "cp1250"),
        ("Işık çok güzel, ağaç şeker", "cp1254"),
        ("Καλημέρα κόσμε", "cp1253"),
        ("これは日本語の文章です。", "shift-jis"),
        ("这是中文文章。 English words", "gbk"),
        ("這是中文", "big5"),
    ],
)
def test_short_text_in_another_old_encoding_fails_instead_of_being_mangled(
    text: str, encoding: str
) -> None:
    with pytest.raises(ReadingFailed, match="its encoding cannot be told for certain"):
        decode_text(text.encode(encoding))


CZECH = (
    "Příliš žluťoučký kůň úpěl ďábelské ódy. Zítra pojedeme na chalupu a vezmeme s sebou děti. "
    "Schůzka se sousedem je v pátek v osm hodin.\n"
)
POLISH = (
    "Jutro jedziemy do Łodzi, żeby odebrać rower. Lista zakupów: chleb, masło i ser żółty. "
    "Spotkanie z sąsiadem jest w piątek o ósmej. Są też nowe książki, źle ułożone.\n"
)
CROATIAN = "Sutra idemo na more, đaci i učitelji. Želimo i nešto naučiti prije ručka u kući.\n"
HUNGARIAN = "Az erdő mellett lakunk, a fű zöld. Jó időt várunk, és süteményt viszünk.\n"


@pytest.mark.parametrize("text", [CZECH, POLISH, CROATIAN, HUNGARIAN])
@pytest.mark.parametrize("encoding", ["iso8859-2", "cp1250"])
def test_text_of_central_europe_is_never_read_as_western(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    try:
        decoded = decode_text(data)
    except ReadingFailed as error:
        assert "its encoding cannot be told for certain" in str(error)  # noqa: PT017
        assert (text, encoding) == (CROATIAN, "cp1250")
        return
    assert decoded.text == text
    assert decoded.text.encode(decoded.encoding) == data


@pytest.mark.parametrize(
    "text",
    [
        "Az erdő mellett lakunk, várunk és süteményt viszünk.",  # one letter differs
        "Slovenija: naš avto, želimo še kaj.",
        "Vrem să învăţăm ceva.",
    ],
)
def test_short_text_of_central_europe_in_iso_8859_2_is_named(text: str) -> None:
    with pytest.raises(ReadingFailed, match="its encoding cannot be told for certain"):
        decode_text(text.encode("iso8859-2"))


@pytest.mark.parametrize(
    "text",
    [
        "Amanhã vamos à montanha: põe as anotações e os avós no carro. São três limões.",
        "Ça va être très drôle, naïf et sûr : « où ? » — œufs, ½ tasse, n° 3.",
        "Das Café in Köln, garçon, größere Füße. Fußnote¹, 20 m², 5 µm, x ± 3, »Zitat«.",
        "¿Qué más hará falta? Nº 3, señor. Mañana ¡sí! 1ª parte.",
        "Così sarà più facile, perché è già lunedì.",
        "I morgen køber vi større sko, æg, på fjellet. Så går vi.",
        "Það verður gaman á föstudaginn, þegar við förum. Þór, æðarfugl, ýsa, ölið.",
        "Õhtul sööme köögis või, ja šokolaadi.",
        "Fáilte go hÉirinn, a chairde. Tá sé fuar.",
        "Això serà més fàcil, perquè és col·legi, què penses?",
        "© 2020 Müller®, £30, ¥500, «citation», 25 °C, the naïve café’s façade",
        "El vídeo de François: très bien, señor.",
    ],
)
def test_western_text_stays_western(text: str) -> None:
    decoded = decode_text(text.encode("cp1252"))
    assert (decoded.text, decoded.encoding) == (text, "cp1252")


RUSSIAN = (
    "# Заметка\n\nСегодня мы встретились в саду и говорили о новом проекте. Следующая встреча "
    "состоится в пятницу. Нужно купить инструменты для мастерской.\n"
)
JAPANESE = (
    "# 会議メモ\n\n今日の会議は午前十時に始まりました。新しい計画について話し合いました。"
    "次の会議は金曜日です。庭の桜の木を剪定する必要があります。\n"
)
CHINESE = (
    "# 会议记录\n\n今天的会议在上午十点开始，讨论了新的项目计划。下一次会议在星期五举行，"
    "请大家准时参加。花园里的樱桃树需要修剪。\n"
)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gbk"),
        (JAPANESE, "shift-jis"),
        (JAPANESE, "euc-jp"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "iso8859-5"),
    ],
)
def test_longer_text_of_another_script_is_read_and_can_be_written_back(
    text: str, encoding: str
) -> None:
    data = text.encode(encoding)
    decoded = decode_text(data)
    assert decoded.text == text
    assert decoded.text.encode(decoded.encoding) == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("Noël à Paris".encode() + b"\n\xff", "its UTF-8 is damaged (byte 0xff on line 2)"),
        ("日本語".encode()[:-1], "its UTF-8 is damaged (byte 0xe8 on line 1)"),
        (b"\xff\xfeh\x00i", "its UTF-16 is damaged (byte 0x69 on line 1)"),
        (b"PK\x03\x04\x00\x00", "it holds NUL bytes"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00\x00\x00\x00\x00", "it holds NUL bytes"),
        (b"\x01\x02\xe9", "its encoding cannot be told for certain (byte 0xe9 on line 1)"),
    ],
)
def test_damaged_text_says_where(data: bytes, reason: str) -> None:
    with pytest.raises(ReadingFailed) as caught:
        decode_text(data)
    assert caught.value.reason.startswith(reason)


@given(st.binary(max_size=300))
def test_bytes_are_read_reversibly_or_refused(data: bytes) -> None:
    try:
        decoded = decode_text(data)
    except ReadingFailed:
        return
    assert decoded.mark + decoded.text.encode(decoded.encoding) == data


@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_utf_8_is_never_taken_for_anything_else(text: str) -> None:
    assert decode_text(text.encode("utf-8-sig")).text == text


def test_every_kind_of_line_end_becomes_one() -> None:
    assert normalize_line_ends("a\r\nb\rc\n") == "a\nb\nc\n"


@pytest.mark.parametrize(
    "text",
    [
        "A crêpe with jalapeño",
        "El Niño and the fête",
        "A naïve view of Søren Kierkegaard",
        "Ørsted was naïve – really",
        "hors d’œuvre del año",
        "Le 15 août, un día en Málaga",
        "Zoë Ångström, São Tomé, piñata",
        "Malmö, Córdoba, Besançon, Tromsø",
    ],
)
def test_a_text_that_mixes_western_languages_is_read(text: str) -> None:
    assert decode_text(text.encode("cp1252")) == DecodedText(text, "cp1252")
