import pytest

from tests.support.vaults.documents import docx, paragraph
from vault.errors import ReadingFailed
from vault.notes.readers import docx as reader
from vault.notes.readers.extract import ExtractPart

ITEM = '<w:numPr><w:ilvl w:val="{}"/></w:numPr>'


def test_headings_go_by_their_styles_name_in_whatever_language() -> None:
    body = paragraph("One", "berschrift1") + paragraph("Two", "H2") + paragraph("text", "Body")
    assert reader.read(docx(body)).parts == (
        ExtractPart("heading", "One", 1),
        ExtractPart("heading", "Two", 2),
        ExtractPart("paragraph", "text"),
    )


def test_lists_and_tables_are_markdown() -> None:
    cells = [paragraph("A"), paragraph("B|b"), paragraph("1") + paragraph("more"), ""]
    first, second = ("".join(f"<w:tc>{c}</w:tc>" for c in row) for row in (cells[:2], cells[2:]))
    body = (
        paragraph("one", properties=ITEM.format(0))
        + paragraph("two", properties=ITEM.format(1))
        + f"<w:tbl><w:tr>{first}</w:tr><w:tr>{second}</w:tr></w:tbl>"
    )
    assert reader.read(docx(body)).parts == (
        ExtractPart("list", "- one\n  - two"),
        ExtractPart("table", "| A | B\\|b |\n| --- | --- |\n| 1 more |  |"),
    )


def test_only_what_a_reader_sees_is_read() -> None:
    body = (
        "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>kept</w:t><w:tab/><w:t>on</w:t></w:r>"
        "<w:del><w:r><w:t>deleted</w:t></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r>"
        '<mc:AlternateContent xmlns:mc="m"><mc:Choice><w:r><w:t> once</w:t></w:r></mc:Choice>'
        "<mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>"
    )
    assert reader.read(docx(body)).parts == (ExtractPart("paragraph", "kept\ton once"),)


def test_footnotes_and_title_are_read_too() -> None:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    others = {
        "word/footnotes.xml": f"<w:footnotes {space}>{paragraph('a note')}</w:footnotes>",
        "docProps/core.xml": "<core><title>The report</title></core>",
    }
    extract = reader.read(docx(paragraph("text"), others))
    assert extract.parts[1:] == (
        ExtractPart("heading", "Footnotes", 1),
        ExtractPart("paragraph", "a note"),
    )
    assert extract.aliases == ("The report",)


BILLION_LAUGHS = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK no zip", "it is damaged or no Word document"),
        (docx("", {"_rels/.rels": "<x/>"}), "it is damaged or no Word document"),
        (docx("<w:p>"), "it is damaged or no Word document"),
        (docx("")[:-30], "it is damaged or no Word document"),
        (docx("<w:p>" * 600), "it is nested too deeply"),
        (
            docx("", {"word/document.xml": BILLION_LAUGHS}),
            "it holds a document type, which no Word document has",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "it is protected by a password, or an old .doc; save it as .docx",
        ),
    ],
    ids=["no zip", "no main part", "broken XML", "cut off", "deep", "entities", "encrypted"],
)
def test_a_document_that_gives_no_text_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(ReadingFailed) as caught:
        reader.read(data)
    assert caught.value.reason == reason


def test_a_zip_bomb_is_unpacked_no_further_than_a_document_may_be_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "MAX_PART_BYTES", 1_000_000)
    with pytest.raises(ReadingFailed, match="it unpacks to more than 1 MB"):
        reader.read(docx("", {"word/document.xml": b" " * 5_000_000}))


def test_a_zip_of_too_many_files_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_FILES", 2)
    with pytest.raises(ReadingFailed, match="it holds more than 2 files"):
        reader.read(docx(""))
