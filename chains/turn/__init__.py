"""A turn from the user message to the stored, checked answer.

    agent           The loop of an agent: ask, run the tools that are called, ask again with what
                    they found.
    agent_chain     Questions that take several looks: a model searches and reads the notes
                    itself, then answers.
    answer          A turn from the moment its question is stored: stream the answer, check it,
                    save it.
    branch_summary  What a branch of a chat came to, for the user who left it; no request carries
                    it.
    compact         Compactions as steps of a chain: who makes their summaries, and what is told
                    of them meanwhile.
    hooks           Where hooks get at a turn: its question and its start, each answer, each
                    result of a tool.
    llm_chain       A chat with a model alone: no notes are looked up.
    regenerate      A question that is answered anew: what was sent with it, as that stands now.
    run             The shared turn: store, retrieve, prepare, stream, check, save.
    shared_chain    What every chain can do with a chat beside asking in it, whatever it does
                    differently.
    summarizer      Summaries of old turns by a model, from what was said and not from what was
                    trimmed of it.
    vault_qa_chain  Questions about the notes: passages are looked up, sent as sources, and cited.

May import: everything else of chains.
"""
