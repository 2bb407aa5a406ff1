"""Use the tools of MCP servers, as programs or at an address. Serve tools to an MCP client.

```
settings → server: McpServer → client: connect, list, call → calls: text of bounded size
                                  └── wire: a child process, or streamable HTTP
```

- `server`: the values: a server of the settings, a tool, and the hashes that approvals apply to.
- `client`: the running servers; starts, restarts and stops them, with limits on time.
- `wire`: the child process of a server, with a clean environment and bounded messages; HTTP.
- `calls`: checks arguments against the JSON schema of a tool; the result of a tool as text.
- `tool_server`: serves tools of Strata over standard input and output.

May import: `chains.event_loop`, `chains.ledger`, `chains.llm.http`, vault.workers. Must not: app,
ui, tools. The SDK and jsonschema are imported on first use. Invariants: a server is not trusted.
Its texts are bounded, shown without invisible characters, and never decide anything alone. A server
that fails is reported in one sentence, and the turn goes on. Nothing is printed.
"""

__all__ = ["calls", "client", "server", "tool_server"]
