"""Benches of indexing: time, memory, and one changed note."""
