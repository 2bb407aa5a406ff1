"""Read notes: decode files and parse headings, links and properties.

    amounts        Read the numbers that values begin with, such as "1,400 EUR", and add them.
    code_pages     Tell Windows-1252 from the encodings of Central Europe.
    copies         Recognise the copies of notes by the names of their files.
    date_spans     Build ranges of days: a day, a week, a month or a year.
    dates          Find the dates in a text: days, months and years.
    day_formats    The formats of daily notes that are set in Obsidian.
    encodings      Decode bytes to text, unless it is not certain in which encoding they are.
    irregular_words
                   The irregular forms of words, such as "bought" for "buy".
    keywords       Convert the text of notes and queries to the words of the full-text index.
    kinds          Detect the kind of a file by its name, and find the page numbers of passages.
    links          Links between notes: `LinkResolver` finds the note that a link leads to.
    name_days      Find the days in the names of notes, folders and headings.
    note           Reads one note from disk (`read_note`, `parse_note`), and decides whether it is
                   private (`Note.is_private`).
    parser_client  Read PDF, HTML and Word files in a child process.
    parser_worker  The entry point of that child process.
    properties     Read front matter.
    readers        One reader for each kind of file.
    relative_dates Find dates that depend on the current date, such as "yesterday".
    short_dates    Write the short dates of a question in full, such as "10/10/26".
    text           The one reader of Markdown: blocks, the kinds of lines, inline syntax.
    tasks          Find tasks, and read their status and their dates.
    units          Convert amounts to the units of others, such as 500 g to 0.5 kg.

This package may import `vault.errors`, `vault.paths`, `vault.workers` and `resources.system`.
"""

__all__ = [
    "amounts",
    "copies",
    "date_spans",
    "dates",
    "day_formats",
    "encodings",
    "irregular_words",
    "keywords",
    "kinds",
    "links",
    "name_days",
    "note",
    "parser_client",
    "properties",
    "tasks",
    "units",
]
