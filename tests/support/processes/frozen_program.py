"""Try the frozen program, as `make frozen` does: index the sample notes, ask, open the window.

`python -m tests.support.processes.frozen_program dist/strata/strata` ends with an error at the
first thing that fails.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.models.model_server import Answer, ModelServer

QUESTION = "When is the server backed up?"


def main() -> None:
    """Try the program whose path is the argument."""
    program = Path(sys.argv[1]).resolve()
    notes = program.parent / "_internal" / "resources" / "vault"
    with tempfile.TemporaryDirectory() as home:
        report = run_json(program, home, "index", str(notes))
        assert report["notes"] >= 20, report
        assert report["embedded_chunks"] == report["chunks"], report
        assert report["failed"] == [], report
        print(f"indexed {report['notes']} notes in {report['seconds']} s")
        ask = ("--vault", str(notes), "ask", "--no-index", QUESTION)
        quoted = run_json(program, home, *ask)
        assert quoted["citations"], quoted
        print(f"answered without a model: {quoted['answer'].splitlines()[0]}")
        with ModelServer() as server:
            server.script(Answer("Every night at two [1]."))
            model = ("--set", "chat.model=openai/test", "--set", f"chat.apiBase={server.url}")
            answer = run_json(program, home, *model, *ask)
        assert answer["answer"] == "Every night at two [1].", answer
        print("answered by a model server")
        opened = (program.with_name("strata-gui"), home, str(notes / "Welcome.md"))
        window = run(*opened, STRATA_EXIT_AFTER_SHOW="1")
        assert window.returncode == 0, window
        print("opened the window")


def run(
    program: Path, home: str, *argv: str, **environ: str
) -> "subprocess.CompletedProcess[bytes]":
    """Run the program with a home of its own."""
    own = {"STRATA_HOME": home, "QT_QPA_PLATFORM": "offscreen", **environ}
    return subprocess.run(
        [program, *argv], env={**os.environ, **own}, cwd=home, capture_output=True, timeout=300
    )


def run_json(program: Path, home: str, *argv: str) -> Any:
    """Run a verb, check that it succeeds, and return its document."""
    done = run(program, home, *argv, "--json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
