"""Programs that are killed at a chosen moment, and what must survive."""
