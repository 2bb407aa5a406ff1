"""A vault with every construct of Obsidian's help on bases and of Dataview's on queries."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["BASES", "QUERIES", "write_view_vault"]

_NOTES: Final = {
    "Books/Dune.md": "---\nrating: 5\nprice: 12.5\nage: 5\nstatus: done\ngenre: [sci-fi, epic]\n"
    "tags: [book]\nauthor: '[[Frank Herbert]]'\nread: 2026-03-01\n---\nSee [[Textbook]].\n"
    "- [ ] Lend it to Ann 📅 2026-11-20\n",
    "Books/Emma.md": "---\nrating: 4\nprice: 8\nage: 2\nstatus: reading\ntags: [book]\n---\n"
    "See [[Textbook]].\n- [ ] Finish Emma\n- [x] Buy Emma\n",
    "Required Reading/Iliad.md": "---\nrating: 3\nprice: 1\nage: 9\ntags: [tag]\n---\nHector.\n",
    "Frank Herbert.md": "A writer. Born:: 1920\n",
    "Textbook.md": "Nothing.\n",
    "Secret.md": "---\nprivate: true\nrating: 5\ntags: [book]\n---\nDo not tell.\n",
}
# The examples of Obsidian's help: "Bases syntax", "Formulas", "Functions" and "Views".
BASES: Final[Mapping[str, str]] = {
    "the first example": """
filters:
  or:
    - file.hasTag("tag")
    - and:
        - file.hasTag("book")
        - file.hasLink("Textbook")
    - not:
        - file.hasTag("book")
        - file.inFolder("Required Reading")
formulas:
  formatted_price: 'if(price, price.toFixed(2) + " dollars")'
  ppu: "(price / age).toFixed(2)"
properties:
  status:
    displayName: Status
  formula.formatted_price:
    displayName: "Price"
  file.ext:
    displayName: Extension
summaries:
  customAverage: 'values.mean().round(3)'
views:
  - type: table
    name: "My table"
    limit: 10
    groupBy:
      property: note.age
      direction: DESC
    filters:
      and:
        - 'status != "done"'
        - or:
            - "formula.ppu > 5"
            - "price > 2.1"
    order:
      - file.name
      - file.ext
      - note.age
      - formula.ppu
      - formula.formatted_price
    summaries:
      formula.ppu: Average
""",
    "a tag": 'filters:\n  and:\n    - file.hasTag("book")\n',
    "cards": "filters: 'file.hasTag(\"book\")'\n"
    "views: [{type: cards, name: Shelf, image: note.cover}]\n",
    "a list": "views:\n  - type: list\n    name: All\n    order: [file.name, rating]\n",
    "a map": "views:\n  - type: map\n    name: Places\n",
    "this": "filters: file.hasLink(this.file)\n",
    "this folder": "filters: file.folder == this.file.folder\n",
    "dates": 'filters: \'read > now() - "1 year" && file.mtime > today() - "1 week"\'\n',
    "arithmetic": "formulas: {total: price * 2 + rating % 2}\n"
    "views: [{type: table, order: [formula.total]}]\n",
    "a property with spaces": "filters: 'note[\"due date\"].isEmpty()'\n",
    "lists": 'filters: \'genre.containsAny("epic", "drama") || genre.length > 3\'\n',
    "texts": 'filters: \'status.lower().startsWith("d") || status.title().contains("R")\'\n',
    "dates as text": "formulas: {month: 'read.format(\"YYYY-MM\")', year: read.year}\n"
    "views: [{type: table, order: [file.name, formula.month, formula.year]}]\n",
    "links": "formulas: {who: 'link(author, \"the author\")'}\n"
    "views: [{type: table, order: [formula.who]}]\n",
    "sorted": "views:\n  - type: table\n    sort:\n"
    "      - property: rating\n        direction: DESC\n"
    "    columnSize:\n      note.rating: 80\n",
    "a creation time": "filters: 'file.ctime > now() - \"1 week\"'\n",
    "a function for lists": "formulas: {big: 'genre.map(value.upper())'}\n"
    "views: [{type: table, order: [formula.big]}]\n",
}
# The examples of Dataview's pages: "Query Types", "Data Commands", "Sources", "Expressions".
QUERIES: Final[Mapping[str, str]] = {
    "list": "LIST",
    "list of a folder": 'LIST FROM "Books"',
    "list with a value": "LIST rating\nFROM #book",
    "list without id": "LIST WITHOUT ID status FROM #book",
    "list with a text": 'LIST "Rating: " + rating FROM #book',
    "table": "TABLE rating, status FROM #book",
    "table with names": 'TABLE rating AS "Stars", file.mtime AS "Changed" FROM #book',
    "table without id": 'TABLE WITHOUT ID file.link AS "Book", price * 2 FROM "Books"',
    "task": "TASK",
    "task open": "TASK WHERE !completed",
    "task due": "TASK WHERE due AND due <= date(today)",
    "task of a folder": 'TASK FROM "Books" WHERE !completed SORT due ASC',
    "task by note": "TASK GROUP BY file.link",
    "task by section": "TASK WHERE !completed GROUP BY meta(section).subpath",
    "where": "LIST WHERE file.mtime >= date(today) - dur(1 day)",
    "where with a choice": 'TABLE choice(rating > 4, "great", "good") FROM #book',
    "sort": "TABLE rating FROM #book SORT rating DESC, file.name ASC LIMIT 5",
    "sources": 'LIST FROM (#book OR "Required Reading") AND -"Books/Old"',
    "links to": "LIST FROM [[Textbook]]",
    "links from": "LIST FROM outgoing([[Books/Dune]])",
    "contains": 'LIST WHERE contains(genre, "epic") OR contains(file.name, "Emma")',
    "this": "LIST WHERE author = this.file.link",
    "group by": "TABLE rows.file.link FROM #book GROUP BY status",
    "flatten": "TABLE genre FROM #book FLATTEN genre",
    "calendar": "CALENDAR file.cday",
    "a creation time": "TABLE file.cday FROM #book",
    "a regular expression": 'LIST WHERE regexmatch("D.*", file.name)',
    "a function with a function": "LIST map(genre, (g) => upper(g)) FROM #book",
}


def write_view_vault(root: Path) -> Path:
    """Write the vault: notes, one base for each of its constructs, and a note of queries."""
    files = dict(_NOTES)
    files |= {f"Bases/{name}.base": text for name, text in BASES.items()}
    blocks = (f"## {name}\n\n```dataview\n{text}\n```\n" for name, text in QUERIES.items())
    files["Queries.md"] = "\n".join(blocks)
    files["Home.md"] = (
        "# Home\n\nWhat I read.\n\n```base\nfilters: 'file.hasTag(\"book\")'\nviews:\n"
        "  - type: table\n    name: Books\n    order: [file.name, rating, author, genre]\n"
        "  - type: list\n    name: Best\n    filters: rating > 4\n```\n\n## To do\n\n"
        "```dataview\nTASK WHERE !completed\n```\n\n## Nothing\n\n"
        "```dataview\nLIST FROM #nothing\n```\n\n## Not known\n\n"
        "```dataview\nTABLE x FROM #book GROUP BY status\n```\n\n"
        "![[the first example.base#My table]]\n\nThe end.\n"
    )
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root
