"""The entry point of the frozen program: the window or a verb, or one of its child processes.

A frozen program has no Python interpreter that takes `-m MODULE`. It therefore starts itself with
`--child MODULE` for a child process; `vault.workers.process` builds that command line.
"""

import faulthandler
import os
import runpy
import sys

from vault.workers.process import CHILD_FLAG

# The loader of the bundle points these at its own libraries, and keeps the user's values here.
# Programs of the system that Strata starts, such as an editor or an MCP server, need the latter.
for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
    kept = os.environ.pop(f"{name}_ORIG", None)
    if kept is not None:
        os.environ[name] = kept
    else:
        os.environ.pop(name, None)

if sys.argv[1:2] == [CHILD_FLAG]:
    faulthandler.enable()  # a frozen program does not read PYTHONFAULTHANDLER
    module = sys.argv[2]
    del sys.argv[1:3]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
else:
    from app.__main__ import main, main_window

    named = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    (main_window if named == "strata-gui" else main)()
