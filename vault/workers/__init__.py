"""Child processes, and the messages that they exchange.

    frames   Messages between the program and its child processes.
    guard    Run a program of others, and end it with all it started once the parent has gone.
    process  A child process that answers requests on its standard input and output.

A child is started with `python -P`, a neutral working directory and few environment variables. It
ends when its input is closed. Only the child that runs a model file (`chains.gguf`) listens on a
network port: on the loopback interface, and only for requests with a secret key.

This package may import the standard library, `vault.errors` and `resources.system`.
"""

__all__ = ["frames", "guard", "process"]
