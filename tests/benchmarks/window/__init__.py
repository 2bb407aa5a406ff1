"""Benches of the window: start, streamed answers, endurance."""
