"""The command line: what may be typed, what each verb does, how it is printed.

    instructions  Instructions for models on the command line: show all; accept or refuse those of
                  the notes.
    keys          Keys of services and servers from the command line: entered, removed, and where
                  they come from.
    map_reduce    Reading attachments whole from the command line: what it takes is told before it
                  begins.
    output        Standard output and Ctrl-C: the two ends at which a shell holds the program.
    parser        The command line: what may be typed, and the way from there to an exit code.
    run           What every run of the program shares: what was named for it alone, and how it
                  ends badly.
    search        Searching from the command line: the best passages, whole lists, and what is
                  near a note.
    sessions      The chats from the command line: listed, read, copied.
    text          How results read to a person.
    turn          A turn as it is printed while it runs: text for a person, or one document at its
                  end.
    verbs         What each verb does: a use-case of the assistant, printed for a person or as one
                  document.
    window        The window's way in: what can be refused before it is shown, and what comes
                  after it closes.

May import: the rest of app, chains, context, vault.
"""
