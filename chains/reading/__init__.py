"""Attachments that are too large to be sent, read whole: by a model, part after part.

```
plan      what is read: the parts of each attachment, and what that takes at most, before any call
  └── parts     lines → parts that each fit a call, cut where a section or a paragraph begins
reader    the calls: notes on each part, then notes on the notes until they fit their room
  └── asking    one call, which passes the guard like any other
whole     both as a step of a turn, with what the service counted
```

What a model writes down becomes notes that name their lines, every quotation checked, in
`chains.quoting.notes`. What comes of an attachment is a segment in its place, marked `derived`: its
notes. An answer that quotes them is checked against the words that were found in the attachment.

Source: "Token Budget Enforcement", "Turn-Time Compaction".
"""
