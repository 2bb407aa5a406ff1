"""Answer user messages: retrieve notes, call a model, check citations, store the answer.

```
judge       outside of any turn: judge notes one by one, with a quotation for each yes
turn        run_turn: hooks, retrieve, fit attachments, prepare, store, stream, check, finish
  │           agent: ask, run tools, ask again      compact: summaries of old turns
  ├── tools       the tools of an agent: check the arguments of a tool call, run it, return a result
  ├── mcp         the tools of the MCP servers in the settings; results of limited size
  ├── web         check the host of an address, fetch the page, extract its title and text
  ├── retrieval   find passages; shorten large attachments to excerpts or reading notes
  ├── request     Ask and Turn; the model that answers; the entries and requests of a turn
  ├── extractive  answer without a language model, by quoting the notes
  ├── gguf        run model files on this computer, in a child process
  ├── llm         the model port, HTTP calls, and provider errors (429 → RateLimited)
  └── citations   verify citations and quotations; claims: figures and acts; rehearsal: ask again
```

- `events`: the values that a turn yields. `turn_answer`: its answer, from the log to the window.
  `errors`: what it raises; the sentences of errors.
- `tool`: a tool that a model may call, and the approval that it may need.
- `model`: calls language models through LiteLLM, with retries, an offline mode and prices.
- `models`: the limits, prices and abilities of models. `providers`: their names, hosts and keys.
- `tokenizer`: counts tokens with the model's encoding.
- `prompts`: the shipped prompts and the user's customization: prompts, instructions and hooks.
- `folders`: the folder names in an agent's prompt. `ledger`: records each outgoing call.
- `cancel`: stops running work. `concurrency`: the pool for calls. `event_loop`: runs asyncio code.
- `spending`: the interface of spending limits.

A `request.turn.Turn` has all that is needed to answer a message; the four ways of answering are the
rows of `request.ask.MODES`. `turn.run.run_turn` is a generator that answers a turn, in the thread
that iterates over it. Calls to servers, searches and imports run in the pool, so that a cancel
takes effect within 200 ms.

This package may import context, vault and resources, not app, ui or Qt. Only `model` imports
litellm, only `tokenizer` tiktoken, and only `gguf.worker` xllamacpp, each on first use.

Only a request that fits its token budget is sent. The user message is on disk before any step but
its own hooks, and a partial answer is kept. The step `store` writes the other entries of the turn.
Only calls to models, web pages and MCP servers use the network, and in offline mode they reach only
loopback addresses. This package prints nothing.
"""
