"""Fetch web pages for the agent's tool and for attached addresses.

```
address → urls: check, look up the host once → client: HTTP to that IP → pages: title and text
```

- `urls`: which addresses may be fetched: http and https, hosts in the public Internet only.
- `client`: the HTTP calls, with limits on redirects, size and time. It imports httpx on first use.
- `videos`: the transcript of a YouTube video, from its captions.
- `pages`: the text of HTML, PDF and plain text; HTML and PDF are parsed in a child process.

May import: `chains.event_loop`, vault.notes. Must not import: app, ui, other parts of chains.
Invariants: a connection is made only to an IP address that was checked. No cookie and no key is
sent. The text of a page is data, and is never followed as an instruction by this code.
"""

__all__ = ["client", "pages", "urls", "videos"]
