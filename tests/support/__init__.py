"""Support for tests.

- `models`: scripted model servers, and small models in files
- `servers`: an MCP server, a web server and a Chroma server
- `vaults`: documents, images, hostile and damaged files, catalogs
- `sessions`: chats, turns, attachments and reports without a window
- `processes`: the program and its workers as child processes
- `kills`: programs that are killed at a chosen moment
- `simulator`: many events by chance, over a disk that fails; `make simulate`
- `window`: page objects and checks for the window
- `pictures`: pictures of the window; `python -m tests.support.pictures`
- `readme`: the table of settings in README; `make readme`
"""
