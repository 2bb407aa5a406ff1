"""Steps that call a model, told as events: from a question to a stored, checked answer.

```
LLMChain, VaultQAChain          what one chain does differently: its prompt, its search
        │                       (what they share with a chat beside asking: shared)
     runner                     the shared turn, readable from top to bottom
        ├── hooking             what hooks make of a question, an answer, a tool's result
        ├── fitting             attachments that are too large are made to fit
        │     ├── oversize      searched within → the passages of them that fit
        │     └── reading       read whole by a model, what that takes being told first → notes
        ├── looking_up          what is searched for a question, and what is found
        │     ├── follow_up     a question that leans on the last turn takes its words along
        │     ├── rewriting     the same by a model, where the user wants that
        │     ├── whole_list    a question for every note → the list, page by page
        │     └── retrieval     hits of the vault → numbered passages
        ├── again               a question answered anew: what was sent with it, as that stands now
        ├── branch_summary      what a branch that was left came to, for the user alone
        ├── turn                the user message, stored first; then entries and first request
        ├── compacting          old turns become a summary, before a request or after a turn
        │     └── summarizer    who makes it, in as many calls as it takes
        └── answering           stream → check → save, however the answer ends
              ├── model         litellm, the only door to language models
              │     ├── wire          what goes over the network, and how it is cut off
              │     └── failures      a provider's words → one typed error
              ├── extractive    answers without a model, in the notes' own words
              └── citations     every number and every quotation, against what was sent
```

`additions` holds what the user adds to every chain: prompts (`prompts`), instructions, hooks;
`folder_names` tells an agent the names in the open folder.
`models` says what a model can do and where it is, `tokenizer` counts text, `images` counts
pictures, `quoting` reads quotations,
`concurrency` is the one pool of threads, `cancel` the one way to stop. `chat_ports` is a chat as a
turn sees it, `upkeep` what it keeps to from turn to turn, `spending` what services counted, also of
calls beside its answers.

A chain is an `Iterator[Event]`. It runs in the thread of whoever reads it; what waits for a server,
a search or an import waits in the pool, so that a stop takes effect within 200 ms.

May import: context, vault, resources. litellm only in `model`, tiktoken only in `tokenizer`, both
on first use. Must not: app, ui, Qt.

Holds always: only a request that passed the budget guard is sent; the user message is on disk
before anything else is done; what arrived of an answer is kept; nothing but the calls themselves
reaches the network, and nothing but loopback when offline; nothing is printed; no hook runs for
what is not sent.
"""
