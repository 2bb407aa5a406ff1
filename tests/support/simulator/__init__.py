"""A simulator: one seed drives the real program on a computer that fails in every way.

- `world`: a home, notes and programs; it does one act after the other and looks at what is left
- `acts`, `chat_acts`, `note_acts`, `home_acts`, `index_acts`: what is done, and how often
- `intrusions`: what another program does in the middle of an act
- `promises`: what the program has acknowledged, and what must hold after each step
- `run`: runs of many events from one seed, smaller runs with the same failure, and mutations
- `bugs`: bugs made by hand, each of which must be found

The doubles of what a computer has:

- `disk`: what survives a killed process and a power failure, and the faults of a disk
- `databases`: SQLite on this disk; `listings`: folders in any order
- `provider`: a model server that answers by chance, or does what the table of behaviours says
- `wire`: the client library, the network and the time of that server
- `process_memory`: what a process remembers in its modules
- `clock`: time that only events move; `scheduler`: threads as tasks of one thread
- `workers`: embedder, Chroma and parser in this process

What was killed may be done again, and the power may fail behind an act as well as in it, so that
each thing that was acknowledged is looked for on the disk.

`python -m tests.support.simulator --help` describes long runs. The window is not simulated.
"""
