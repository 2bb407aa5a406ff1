"""Sessions: their log on the disk, and the use-cases that read and extend it.

    ask               Questions, asked and asked again: from what the user typed to a stream of
                      events.
    branches          The tree of a chat, changed by the user: another branch, a copy, a name, a
                      message of a program.
    file              A chat's log as bytes: reading what a crash, a bad disk or an editor may
                      have left.
    migration         A chat of an older kind, brought up to the present one where it lies.
    reattach          What was attached to a question, attached again: notes as they are now,
                      selections as made.
    request_history   A chat looked at again: how it reads, and what a model saw of it.
    session           One chat: its log in memory, and the file that it is appended to.
    snapshots         What was counted of a long chat, kept beside a compaction: a cache, and
                      nothing more.
    store             The chats on disk: one append-only file each, one writer at a time.
    transcript        A chat as it is read: what was asked, what was answered, what is no longer
                      sent as it was.
    transcript_items  What a chat is made of when it is read: values, for whoever shows them.
    user_messages     A question as it is asked, and what the log keeps of it beside its text.

May import: `app.customize`, `app.library`, `app.config`, chains, context.
"""
