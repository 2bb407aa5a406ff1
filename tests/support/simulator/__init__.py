"""A simulator: one seed drives the real program over a disk that fails and a model that misbehaves.

- `disk`: what survives a killed process and a power failure, and the faults of a disk
- `provider`: a model that answers, calls tools and fails by chance
- `promises`: what the program has acknowledged, and what must hold after each step
- `world`: the events: chats, settings, memories, notes, the bin, restarts and kills
- `run`: runs of many events from one seed, smaller runs with the same failure, and mutations

`python -m tests.support.simulator --help` describes long runs. Time, the index and the network of
the window are not simulated yet.
"""
