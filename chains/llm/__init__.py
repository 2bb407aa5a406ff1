"""Language models: their port, the HTTP exchange, provider errors and message formats.

- `port`: the protocol of a model, its events and its endpoint.
- `http`: one HTTP call: records the body, aborts on a cancel, sends a key only to its server.
- `failures`: maps the status and text of a provider to an error: 429 → `RateLimited`, 401 →
  `MissingKey`, an overflow → `ContextOverflow`, no response → `ModelUnavailable`.
- `wire_messages`: converts messages and tool calls to the providers' JSON; joins streamed pieces.
- `extractive`: answers without a language model, with up to five quoted sentences of the notes.
- `images`: counts the tokens of an image by the rule of the model's provider.

`chains.model` combines these modules with LiteLLM.

May import: `chains.cancel`, `chains.errors`, `chains.events`, `chains.citations`, context, vault.
Invariants: a key is sent only to its own server. No redirect is followed.
"""

__all__ = ["extractive", "failures", "http", "images", "port", "wire_messages"]
