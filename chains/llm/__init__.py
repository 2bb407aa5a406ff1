"""Language models: the port that turns use, the HTTP exchange, provider errors, message formats.

- `port`: the protocol of a model, its events and its endpoint.
- `http`: one HTTP call: records what is sent, cuts it off on a stop, keeps keys to their server.
- `failures`: turns the status and text of a provider into an error: 429 → `RateLimited`, 401 →
  `MissingKey`, an overflow → `ContextOverflow`, no answer → `ModelUnavailable`.
- `wire_messages`: messages and tool calls in the providers' JSON; joins streamed pieces.
- `extractive`: answers without a model, with up to five quoted sentences of the notes.
- `images`: counts the tokens of a picture by the rule of the model's provider.

`chains.model` puts these together with LiteLLM.

May import: `chains.cancel`, `chains.errors`, `chains.events`, `chains.citations`, context, vault.
Holds always: a key goes to its own server only; no redirect is followed.
"""

__all__ = ["extractive", "failures", "http", "images", "port", "wire_messages"]
