"""Computed views: the bases and queries in notes, as tables, lists and tasks from the index.

    ```base, .base   → base ─────┐                     ┌→ search.query (filters) ─┐
    ```dataview      → dataview ─┤
    ```tasks         → tasks ────┴→ view (conditions) ─┴→ evaluate (the rest) ────┴→ compute

The filters are read as conditions of the one query language (`vault.search.query`), which searches,
lists and questions use too. Only what it cannot say, such as a formula, is evaluated for each note.
No note is parsed to show a view. What is not understood is named, and its view is not computed.

    base         Read `.base` files and ```` ```base ```` blocks.
    base_writer  Write a query as a base.
    blocks       Find the views of a note, compute them, and write them as Markdown.
    compute      Choose the notes or tasks of a view, sort them, and write their cells.
    conditions   Read a filter as conditions of the query language.
    dataview     Read the queries LIST, TABLE and TASK of Dataview.
    evaluate     Evaluate expressions for a note: columns, formulas, what is sorted by.
    expressions  Parse the expressions of both languages to one tree.
    function     Read the functions in queries of the Tasks plugin.
    task_fields  Fields of tasks that only these queries know, and their regular expressions.
    tasks        Read the queries of the Tasks plugin, with what its settings add.
    values       Values and how they are compared: texts, numbers, days, links and lists.
    view         `View`, `ComputedView`.

This package may import all of vault and `resources.system`.
"""

__all__ = ["base", "base_writer", "blocks", "view"]
