"""Language models: their port, the HTTP exchange, provider errors and message formats.

    sealed Request → shaped_request → wire_request → wire_messages → wire_content
    chains.model → litellm → http → the server → incoming → events

- `port`: the protocol of a model, its events and its endpoint.
- `http`: one HTTP call: records the body, aborts on a cancel, sends a key only to its own server.
- `incoming`: the door for what comes back: reads, cleans and bounds every answer.
- `failures`: maps the status and text of a provider to an error: 429 → `RateLimited`, 401 →
  `MissingKey`, an overflow → `ContextOverflow`, no response → `ModelUnavailable`.
- `records`: records the calls to a model in the ledger.
- `wire_request`: builds the arguments of a call from a prepared request.
- `setup`: keeps litellm from contacting any host but the one that a request is for.
- `request_shape`: how a server's requests differ, found from what it refuses.
- `shaped_request`: writes a request anew when the server refuses its shape.
- `shaped_messages`: writes messages in the shape that a server takes.
- `wire_content`: converts one message to the providers' JSON, and merges two.
- `server_queries`: sends short queries to model servers, and keeps their answers for a minute.
- `server`: asks model servers for their models, and finds servers on this computer.
- `wire_messages`: converts messages, tool calls and cache marks to the providers' JSON.
- `urls`: parses and completes the addresses of model servers.
- `image_tokens`: counts the tokens of an image, using the rule of the model's provider.

`chains.model` combines these modules with LiteLLM.

This package may import `chains.cancel`, `chains.concurrency`, `chains.errors`, `chains.events`,
`chains.ledger`, `chains.spending`, `chains.turn_answer`, `chains.citations`, context and vault. It
sends a key only to the key's own server, and does not follow redirects.
"""

__all__ = [
    "failures",
    "http",
    "image_tokens",
    "incoming",
    "port",
    "records",
    "request_shape",
    "server",
    "server_queries",
    "setup",
    "shaped_messages",
    "shaped_request",
    "urls",
    "wire_content",
    "wire_messages",
    "wire_request",
]
