"""The installed program and its workers as child processes, started or forked."""
