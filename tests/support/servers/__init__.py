"""Servers on loopback that tests start: MCP, web pages, Chroma."""
