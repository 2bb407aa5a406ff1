"""Models in files (GGUF), run in a child process.

```
gguf//path/to/FILE ── file ──> its header: name, context length, memory
                        └── model: GgufModel, a ModelPort ── process ──> worker (a child process)
                               └── calls the child's server, by the port that the caller makes
```

- `file`: describes a model file from its header.
- `header`: the fields of a GGUF file; damaged and incomplete files are recognised.
- `memory`: the free memory, compared with the memory that a model needs.
- `process`: starts and stops the child process. Only one runs at a time.
- `model`: loads the file on first use, calls it, and reports how the process ended.
- `worker`: the child process, which alone imports xllamacpp (the extra `local`).

May import: `chains.cancel`, `chains.concurrency`, `chains.errors`, `chains.llm`, vault.workers.
Invariants: the library is imported in the child alone. The child listens on loopback and answers
only with the key of this run. It gets no key of a service, and ends with the program.
"""

__all__ = ["file", "header", "memory", "model", "process"]
