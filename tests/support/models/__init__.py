"""Scripted model servers, and small language and embedding models in files."""
