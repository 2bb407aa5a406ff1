"""Compute keyword scores of passages or whole notes with BM25 and Lucene's idf.

SQLite gives almost no weight to words that occur in half of the texts. Each term is therefore
scored separately, and its score is rescaled with Lucene's idf.
"""

import json
import math
from collections.abc import Collection, Sequence
from typing import Final, Literal

from vault.catalog import Catalog
from vault.ranking.terms import Term

__all__ = ["KeywordScores", "Table"]

Table = Literal["words", "note_words"]

_COMMON_SHARE: Final = 0.2
_COMMON_MIN: Final = 1_000
_MOST_TERMS: Final = 48
# SQLite's weight of a term approaches 0 if half of the texts contain it. Above this share, all
# texts with the term get the same score.
_SURE_SHARE: Final = 0.4
_USUAL_SATURATION: Final = 1.1


class KeywordScores:
    """Computes keyword scores for the texts of a full-text index."""

    def __init__(self, catalog: Catalog, table: Table, columns: Sequence[float]):
        """Create the object. Nothing is read yet.

        Args:
            catalog: the catalog of the vault.
            table: the full-text index, of passages or whole notes.
            columns: the weight of each column.
        """
        self._catalog = catalog
        self._table = table
        self._columns = columns

    def find_best(
        self, terms: Sequence[Term], limit: int, among: Collection[int] | None = None
    ) -> dict[int, float]:
        """Return the scores of the texts that best match a query, keyed by row id.

        Args:
            terms: the terms of the query.
            limit: the maximum number of texts.
            among: the row ids to search, or None for all texts.
        """
        size = int(self._catalog.rows(f"SELECT count(*) FROM {self._table}_docsize")[0][0])  # noqa: S608
        arms, parameters = list[str](), list[str | float]()
        for term, count in self._drop_frequent(terms, size):
            arm, factor = self._build_term_statement(count, size)
            arms.append(arm)
            parameters += [*factor, term.weight, term.expression]
        if not arms:
            return {}
        within = "" if among is None else "WHERE id IN (SELECT value FROM json_each(?))"
        # The limit keeps SQLite from merging both statements, in which `bm25` would not work.
        scored = f"{' UNION ALL '.join(arms)} LIMIT -1"
        rows = self._catalog.rows(
            f"SELECT id, sum(score) AS score FROM ({scored}) {within}"  # noqa: S608 - ours
            " GROUP BY id ORDER BY score DESC, id LIMIT ?",
            [*parameters, *([] if among is None else [json.dumps(list(among))]), limit],
        )
        return {int(row[0]): float(row[1]) for row in rows}

    def _build_term_statement(self, count: int, size: int) -> tuple[str, list[float]]:
        """Build an SQL statement that scores one term, and its first parameters.

        The caller adds the last two parameters: the weight and the expression of the term.

        Args:
            count: the number of texts that contain the term.
            size: the number of all texts.
        """
        idf = math.log(1 + (size - count + 0.5) / (count + 0.5))
        found = f"FROM {self._table} WHERE {self._table} MATCH ?"
        if count > size * _SURE_SHARE:
            return f"SELECT rowid AS id, ? * ? AS score {found}", [idf * _USUAL_SATURATION]
        factor = idf / math.log((size - count + 0.5) / (count + 0.5))
        marks = ", ".join("?" * len(self._columns))
        ranked = f"SELECT rowid AS id, -bm25({self._table}, {marks}) * ? * ? AS score {found}"
        return ranked, [*self._columns, factor]

    def _drop_frequent(self, terms: Sequence[Term], size: int) -> list[tuple[Term, int]]:
        """Drop terms that occur in many texts. If all terms are frequent, keep all of them.

        Return the remaining terms, rarest first, each with the number of texts that contain it.

        Args:
            terms: the terms of the query.
            size: the number of all texts.
        """
        if not terms:
            return []
        common = max(_COMMON_MIN, int(size * _COMMON_SHARE))
        one = f"SELECT count(*) FROM (SELECT 1 FROM {self._table} WHERE {self._table} MATCH ? LIMIT ?)"  # noqa: S608, E501
        parameters = [value for term in terms for value in (term.expression, common)]
        rows = self._catalog.rows(" UNION ALL ".join([one] * len(terms)), parameters)
        counted = [(term, int(row[0])) for term, row in zip(terms, rows, strict=True) if row[0]]
        counted.sort(key=lambda pair: pair[1])
        rare_terms = [(term, count) for term, count in counted if count < common]
        return (rare_terms or counted)[:_MOST_TERMS]
