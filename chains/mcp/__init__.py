"""Call the tools of MCP servers (child processes or HTTP services), and serve Strata's tools.

```
settings → server: McpServer → client: connect, list, call → calls: text of bounded size
                                  └── wire: a child process, or streamable HTTP
```

- `server`: the data classes for a configured server and its tools, and the hashes that identify
  what the user approved.
- `client`: starts, restarts, calls and stops the servers, with time limits.
- `wire`: the transports: a child process with a clean environment and bounded messages, which a
  guard (`vault.workers.guard`) ends with this process, or HTTP.
- `messages`: replaces what is not valid in the messages of a server, and leaves out bad tools.
- `http_bodies`: does the same in the bodies of HTTP responses, before the SDK reads them.
- `calls`: checks arguments against the JSON schema of a tool, and converts results to text.
- `tool_server`: serves Strata's own tools to an MCP client over standard input and output.

This package may import `chains.cancel`, `chains.errors`, `chains.event_loop`, `chains.ledger`,
`chains.llm.urls`, `context.layers`, `context.messages`, `resources.system` and `vault.workers`. It
must not import app, ui or `chains.tools`. The SDK and jsonschema are imported on first use.

A server is not trusted. Its texts are shortened and shown without invisible characters, and no
decision depends on them alone. If a server fails, one sentence reports it, and the turn continues.
This package prints nothing.
"""

__all__ = ["calls", "client", "server", "tool_server"]
