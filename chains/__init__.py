"""Placeholder; the owner writes the architecture page here."""
