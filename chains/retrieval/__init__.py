"""Retrieval for a turn: what is searched for, what is found, what of attachments fits.

    attachments      Attachments that take more than their share: searched within themselves.
    fit_attachments  What is attached, made to fit: searched within, or read whole where the user
                     wants that.
    follow_up        A question that leans on the last turn, searched with what that was about; no
                     model is needed.
    follow_up_words  Words by which a question leans on what was said before it, without case and
                     accents.
    listing          Questions for every note of a kind, which are answered by the whole list and
                     not by the best.
    passages         From a question to numbered passages that a model can be sent and an answer
                     can cite.
    retrieve         What is looked up for a question, and what is found.
    rewrite          A question in words that can be searched without its chat, by a model, where
                     that is wanted.

May import: `chains.request`, `chains.llm`, `chains.citations`, vault.
"""
