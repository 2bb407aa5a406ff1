"""Record crashes of Strata's processes, and report them at the next start of the window.

A crash is the end of a process by the system because of an error in machine code: a segmentation
fault, an abort of Qt. Python cannot handle it; `faulthandler` can still write what each thread was
doing. Exceptions of Python are no crashes: `app.faults` logs them.

    a process begins ── start_recording ──> state/crashes/20261126T190201Z-4711-window.txt  (locked)
        it crashes ──── faulthandler ─────> the file has the calls of all threads
        it ends ─────── stop_recording ───> the file is removed
    the next window ─── find_reports ─────> reports of the files that have a text and no lock

    recorder  Record a crash of this process in a file.
    reports   Read what crashed processes have recorded, and check the chats after a crash.

The end of a process by another one, such as by SIGTERM at the end of the desktop's session or by
SIGKILL, writes nothing, so it is not reported.

This package may import `resources.system`, `app.paths`, `app.sessions`, `app.errors` and
`app.assistant`.
"""

__all__ = ["recorder", "reports"]
