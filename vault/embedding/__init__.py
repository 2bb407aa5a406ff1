"""Embedding models and the chunks that they embed.

    chunking      Notes cut into passages of the size that the embedding model reads.
    model_card    The embedding model that comes with Strata, as facts that need no model to be
                  loaded.
    models        Which model embeds: the one that comes with Strata, or one that the user has
                  named.
    token_counts  How many tokens of the embedding model a text has: exact, and far faster than
                  encoding it.

May import: `vault.notes`, `vault.errors`.
"""
