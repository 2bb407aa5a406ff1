"""Embedding models and the chunks that they embed.

    chunking  Notes cut into passages of the size that the embedding model reads.
    models    Embedding models, the tokenizer of the one that comes with Strata, token counts.

May import: `vault.notes`, `vault.errors`.
"""

__all__ = ["chunking", "models"]
