"""Read attachments that are too large for one request: map over parts, then reduce.

    calls      The calls that read attachments whole, three at a time, and what is made of their
               answers.
    plan       What reading attachments whole takes, found without a model: parts, calls, tokens,
               price.
    questions  What a model is asked while an attachment is read: a part of it, or notes on
               several parts.
    run        Reading whole as a step of a turn, before its first request is prepared.
    split      A long text cut into parts that each fit a call: whole lines, from a heading where
               one is near.

May import: `chains.request`, `chains.llm`, `chains.citations`, vault.
"""
