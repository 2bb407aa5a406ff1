"""Fetch web pages for the agent's tool and for attached addresses.

```
address → urls: check, look up the host once → client: HTTP to that IP → pages: title and text
```

- `urls`: decides which addresses may be fetched: http and https, and only public hosts.
- `client`: the HTTP calls, with limits on redirects, size and time. It imports httpx on first use.
- `videos`: the transcript of a YouTube video, from its captions.
- `captions`: the words of captions and transcripts, without times.
- `pages`: the text of HTML, PDF and plain text; HTML and PDF are parsed in a child process.

This package may import `chains.cancel`, `chains.errors`, `chains.event_loop`, `chains.ledger`,
`chains.llm.http`, `vault.errors` and `vault.notes`. It connects only to IP addresses that it has
checked, and sends neither cookies nor keys. The text of a page is treated as data: this code never
follows it as an instruction.
"""

__all__ = ["captions", "client", "pages", "urls", "videos"]
