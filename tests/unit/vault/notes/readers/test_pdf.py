import pytest

from tests.support.vaults.documents import pdf
from vault.errors import ReadingFailed
from vault.notes.readers import pdf as reader
from vault.notes.readers.extract import ExtractPart


def test_each_page_with_text_is_a_heading_with_its_number() -> None:
    extract = reader.read(pdf(["Fees (base)\nand tips: 5 €", "", "# Third\npage"]))
    assert extract.parts == (
        ExtractPart("heading", "Page 1", 1),
        ExtractPart("paragraph", "Fees (base)\nand tips: 5 €"),
        ExtractPart("heading", "Page 3", 1),
        ExtractPart("paragraph", "\\# Third\npage"),
    )
    assert extract.is_paged


def test_the_title_that_a_pdf_gives_itself_is_another_name_of_it() -> None:
    assert reader.read(pdf(["x"], title="On fees")).aliases == ("On fees",)
    assert reader.read(pdf(["x"])).aliases == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(["", ""]), "it has no text (scanned?)"),
        (pdf(["secret"], is_encrypted=True), "it is protected by a password"),
        (pdf(["x"])[:200], "it is damaged or no PDF file"),
        (b"%PDF-1.4", "it is damaged or no PDF file"),
        (b"", "it is damaged or no PDF file"),
    ],
    ids=["scanned", "encrypted", "cut off", "head alone", "empty"],
)
def test_a_pdf_that_gives_no_text_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(ReadingFailed) as caught:
        reader.read(data)
    assert caught.value.reason == reason


def test_a_pdf_of_too_many_pages_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PAGES", 2)
    with pytest.raises(ReadingFailed, match="it has 3 pages; PDF files of up to 2 are read"):
        reader.read(pdf(["a", "b", "c"]))


def test_a_word_divided_at_the_end_of_a_line_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        reader, "_read_page_text", lambda _document, _index: "exam\ufffe\r\nple of\x02\r\nten"
    )
    assert reader.read(pdf(["x"])).parts[1] == ExtractPart("paragraph", "example often")
