"""Child processes, and the messages that they exchange.

    frames   Messages between the program and its child processes.
    process  A child process that answers requests on its standard input and output.

A child is started with `python -P`, a neutral working directory and few variables of the
environment. It listens on nothing, and ends when its input is closed.

May import: the standard library and `vault.errors`.
"""

__all__ = ["frames", "process"]
