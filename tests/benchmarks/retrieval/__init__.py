"""Benches of search and of answers without a model."""
