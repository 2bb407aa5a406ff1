"""Child processes, and the frames that they exchange.

    frames   Messages between the program and its children: a JSON header and raw bytes, on pipes.
    process  A child process that answers framed requests on its standard input and output.

May import: the standard library and `vault.errors`.
"""
