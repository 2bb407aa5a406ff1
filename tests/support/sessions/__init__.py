"""Chats, turns, attachments and reports for tests, without a window."""
