"""Quotations: what an answer quotes, what a note can be quoted with, and whether the two agree.

`masking` hides what is no prose, `reading` finds an answer's numbers and quotations, `verbatim`
looks a quotation up in a text, `sentences` takes a passage apart, `notes` are what a model noted of
a text. `chains.citations`, `chains.extractive` and `chains.reading` are made of these. All of it is
text in, values out, in time proportional to the text whatever it holds: answers and notes come from
strangers.

May import: the standard library.
"""
