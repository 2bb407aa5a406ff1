"""The tools of an agent: definitions, argument checks and results.

```
tool call → registry: find the tool, check the arguments → run → result and log entry
```

- `registry`: runs the tool calls of a model. The tools themselves are listed in
  `chains.turn.agent` and, if they need approval, in `app.sessions.agent`.
- `schema`: the JSON schemas of arguments; parses arguments and checks them against a schema.
- `approval_desk`: holds the proposals of tools until the user has approved or rejected them.
- `notes`: search_notes, read_note and list_folder; numbers the passages for citations.
- `listing_tools`: grep_notes, get_links, list_tags, recent_notes and current_time.
- `memory_tools`: update_memory, update_progress, and remember, which needs approval.
- `web`: fetch_url, and web pages as segments. `mcp`: the tools of MCP servers. Both need approval.
- `edit_tools`: create_note, edit_note, append_to_note and move_note, which need approval.
- `vault_tools`: the tools that other programs get over MCP.
- `context_tools`: read_result reads stored results in pages, compact_context frees space,
  tool_search finds tools that requests leave out.

This package may import `chains.mcp`, `chains.web`, `chains.request`, `chains.retrieval`,
`chains.llm`, the modules of chains, context and vault. It must not import app, ui or litellm.

Each call has exactly one result. A failure is a result that says what to do instead, and it does
not end the turn. Tools read only notes that a model may read.
"""

__all__ = [
    "approval_desk",
    "context_tools",
    "edit_tools",
    "listing_tools",
    "mcp",
    "memory_tools",
    "notes",
    "registry",
    "schema",
    "vault_tools",
    "web",
]
