"""Benches that kill the program and count what is lost."""
