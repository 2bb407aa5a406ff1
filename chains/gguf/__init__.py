"""Run models from GGUF files in a child process.

```
gguf//path/to/FILE ── file ──> its header: name, context length, memory
                        └── model: GgufModel, a ModelPort ── process ──> worker (a child process)
                               └── calls the child's server through a port that the caller builds
```

- `file`: describes a model file from its header, and compares its memory with the free memory.
- `header`: reads the header of a GGUF file, and recognises damaged and incomplete files.
- `process`: starts and stops the child process. Only one runs at a time.
- `model`: loads the file on first use, calls it, and reports how the process ended.
- `worker`: the child process. No other module imports xllamacpp (the extra `local`).

This package may import `chains.cancel`, `chains.concurrency`, `chains.errors`, `chains.llm`,
`context.assemble`, `resources.system`, `vault.errors` and `vault.workers`. Only the child process
imports xllamacpp. The child listens on a loopback address, and answers only requests with its
random key. It gets no API keys, and exits with the program.
"""

__all__ = ["file", "header", "model", "process"]
