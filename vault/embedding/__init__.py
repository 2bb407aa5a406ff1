"""Embedding models and the chunks that they embed.

    chunking  Splits notes into passages that fit into the embedding model's input.
    models    Finds embedding models; the packaged model's tokenizer and token counts.

May import: `vault.notes`, `vault.errors`.
"""

__all__ = ["chunking", "models"]
