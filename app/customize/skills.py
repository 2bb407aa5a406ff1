"""Skills: folders with a `SKILL.md` that tell an agent how to do a certain task.

    own       <data>/skills/NAME/SKILL.md             used as they are
    vault     <vault>/.agents/skills/NAME/SKILL.md    used once the user has accepted them
    project   <project>/.agents/skills/NAME/SKILL.md  the same

The front matter of `SKILL.md` has a name and a description. Only these are part of each request of
an agent, which reads the text below, and the files beside it, with the tool `read_skill` when it
needs them. An acceptance is for the exact content of the folder. Links that lead out of the folder
are not followed. Of the notes and projects, files that models may not read are left out.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from app.customize.commands import UserCommand
from app.errors import InvalidRequest, NotFound
from app.library.instructions import Decision, InstructionDecisions, visible_text
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from chains.errors import ToolFailed
from chains.tool import Tool
from chains.tools.schema import build_arguments_schema, build_text_schema
from context.fixes import Command, Fix
from context.json_codec import Record
from context.layers import Layer, Segment
from context.messages import ToolDefinition
from context.tokens import ByteEstimator
from resources.system.files import read_file
from vault.access import is_private
from vault.exclude.rules import ExcludeRules
from vault.notes.encodings import normalize_line_ends
from vault.notes.properties import find_fault, load_properties
from vault.scope import WHOLE
from vault.vault import Vault

__all__ = ["Skill", "Skills", "build_offer"]

FOLDER: Final = ".agents/skills"
FILE: Final = "SKILL.md"
SECTION: Final = "skills"
MOST_SKILLS: Final = 50
MOST_FILES: Final = 40
MOST_BYTES: Final = 500_000  # of all files of a skill
MOST_DESCRIPTION_CHARS: Final = 1_024
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_FRONT: Final = re.compile(r"---[^\S\n]*\n(?P<front>.*?\n)---[^\S\n]*(?:\n|$)", re.DOTALL)
_OFFER: Final = (
    "Skills are the user's instructions for certain tasks. If one fits the task, read it with "
    "read_skill before you begin, and follow it.\n\n"
)
_WORDS: Final = {"own": "yours", "vault": "of these notes", "project": "of the project"}

Origin = Literal["own", "vault", "project"]
State = Literal["used", "undecided", "refused", "invalid"]
MayRead = Callable[[Path], bool]  # whether models may read a file

READ_SKILL: Final = ToolDefinition(
    "read_skill",
    "Read a skill, which says how to do a certain task, or a file that belongs to it.",
    build_arguments_schema(
        {"name": build_text_schema("The name of the skill.")},
        file=build_text_schema("A file of the skill. Without it, the skill itself is read."),
    ),
)


class _Malformed(Exception):
    """A folder holds no usable skill. The message says why."""


@dataclass(frozen=True)
class Skill(Record):
    """A skill.

    Attributes:
        name: the name in `SKILL.md`, or that of the folder if the file cannot be used.
        origin: whose folder it lies in.
        folder: the folder of the skill.
        description: what the skill is for.
        text: the text of `SKILL.md` below its front matter.
        contents: the content of each file beside it, by its path within the folder.
        digest: the digest of all files, which an acceptance is for.
        decision: the user's decision about these files, or None.
        problem: why the skill cannot be used, or an empty string.
    """

    name: str
    origin: Origin
    folder: Path
    description: str = ""
    text: str = field(default="", repr=False)
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    digest: str = ""
    decision: Decision | None = None
    problem: str = ""

    json_shape = (
        "name",
        "description",
        "origin",
        "path = folder",
        "state",
        "problem or null",
        "files",
        "digest",
        "tokens",
    )

    @property
    def state(self) -> State:
        """Whether models are given the skill, or why not."""
        if self.problem:
            return "invalid"
        if self.origin == "own" or self.decision == "accepted":
            return "used"
        return "refused" if self.decision == "refused" else "undecided"

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files beside `SKILL.md`, within the folder."""
        return tuple(self.contents)

    @property
    def tokens(self) -> dict[str, int]:
        """The tokens of the offer, and of the text."""
        counter = ByteEstimator()
        return {"offered": counter.count(self.offer), "text": counter.count(self.text)}

    @property
    def offer(self) -> str:
        """The line that is part of each request of an agent."""
        return f"- {self.name}: {self.description}"

    def describe(self) -> str:
        """Return the state of the skill for the user, such as `used, yours`."""
        words = {"used": "used", "undecided": "not used until you accept it", "refused": "refused"}
        state_text = self.problem or words[self.state]
        return f"{state_text} ({_WORDS[self.origin]})"

    def to_full_dict(self) -> dict[str, Any]:
        """Return the skill as a dict for JSON, with its text and the content of its files."""
        contents = {name: data.decode("utf-8", "replace") for name, data in self.contents.items()}
        return {**self.to_dict(), "text": self.text, "contents": contents}

    def show(self) -> str:
        """Return everything that models can read in it, with invisible characters escaped."""
        parts = [f"{self.description}\n\n{self.text}"]
        for name, content in self.contents.items():
            parts.append(f"──── {name} ────\n\n{content.decode('utf-8', 'replace')}")
        return visible_text("\n\n".join(parts))

    def read(self, file: str = "") -> str:
        """Return the text of the skill with the names of its files, or the text of a file.

        Raises:
            ToolFailed: there is no such file, or it is not text.
        """
        names = ", ".join(self.contents)
        if not file:
            return f"{self.text}\n\nIts files: {names}" if names else self.text
        if file not in self.contents:
            raise ToolFailed(
                f"The skill {self.name} has no file {file}. It has: {names or 'none'}."
            )
        try:
            return normalize_line_ends(self.contents[file].decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ToolFailed(f"{file} is not text.") from None


class Skills:
    """The skills of the user, of the open vault, and of projects. Thread-safe."""

    def __init__(
        self, own: Path, vault: OpenVault, projects: Projects, decisions: InstructionDecisions
    ) -> None:
        """Use the skills in a folder of the user, and those of the open vault.

        Args:
            own: the folder with the user's own skills, which need not exist.
            vault: the open vault.
            decisions: the user's decisions, by digest.
        """
        self._own, self._vault, self._projects = own, vault, projects
        self._decisions = decisions

    def list(self, project: str | None = None) -> tuple[Skill, ...]:
        """Return all skills: the user's own, those of a project, and those of the vault.

        Of several with one name, only the first is used.

        Args:
            project: the project, or None.

        Raises:
            NotFound: the folder of the project does not exist.
        """
        found = [_read_skill(folder, "own") for folder in _list_folders(self._own)]
        if project is not None:
            notes = self._projects.open(project)
            prefix = notes.scope.prefix
            found += self._read_from_notes(notes.limit(WHOLE), f"{prefix}{FOLDER}", "project")
        vault = self._vault.vault
        is_outside = project is not None and Path(project).is_absolute()
        if vault is not None and not is_outside:
            found += self._read_from_notes(vault, FOLDER, "vault")
        return tuple(_mark_repeated(found[:MOST_SKILLS]))

    def find(self, name: str, project: str | None = None, digest: str | None = None) -> Skill:
        """Return a skill by its name: the one that can be used, if there is one.

        Args:
            project: the project, or None.
            digest: the digest of the one that is meant, if several have the name, or None.

        Raises:
            NotFound: there is no such skill.
        """
        named = [one for one in self.list(project) if one.name == name]

        def rank(skill: Skill) -> tuple[bool, bool, bool]:
            is_meant = digest is not None and skill.digest == digest
            return not is_meant, bool(skill.problem), skill.state == "refused"

        found = min(named, key=rank, default=None)
        if found is None:
            raise NotFound(
                f"There is no skill {name}.", hint=Fix("{} shows them.", Command("skills list"))
            )
        return found

    def decide(
        self, name: str, decision: Decision, digest: str | None = None, project: str | None = None
    ) -> Skill:
        """Store the user's decision about a skill, and return the skill.

        Args:
            name: the name of the skill.
            digest: the digest that was shown to the user, or None for the present one.
            project: the project, or None.

        Raises:
            NotFound: there is no such skill.
            InvalidRequest: the skill needs no decision, or has changed since it was shown.
            StorageFailed: the decision cannot be stored.
        """
        found = self.find(name, project, digest)
        if found.origin == "own" or found.problem:
            reason = found.problem or "It is your own, and used as it is."
            raise InvalidRequest(f"The skill {name} needs no decision. {reason}")
        if digest not in (None, found.digest):
            raise InvalidRequest(
                f"The skill {name} has changed since it was shown.",
                hint="Read it again, then decide.",
            )
        self._decisions.decide(found.digest, decision)
        return self.find(name, project, found.digest)

    def list_used(self, project: str | None = None) -> tuple[Skill, ...]:
        """Return the skills that models are given."""
        return tuple(skill for skill in self.list(project) if skill.state == "used")

    def list_commands(self) -> tuple[UserCommand, ...]:
        """Return the skills as slash commands, which send their text as a message."""
        used = self.list_used()
        return tuple(UserCommand(skill.name, skill.text, skill.description) for skill in used)

    def build_tools(self, project: str | None) -> tuple[Tool, ...]:
        """Return the tool that reads skills, or none if there is no skill to read."""
        if not self.list_used(project):
            return ()

        def run(arguments: Mapping[str, Any]) -> str:
            used = {skill.name: skill for skill in self.list_used(project)}  # as they are now
            skill = used.get(arguments["name"])
            if skill is None:
                names = ", ".join(used) or "none"
                raise ToolFailed(f"There is no skill {arguments['name']}. There are: {names}.")
            return skill.read(arguments.get("file", ""))

        return (Tool(READ_SKILL, run=run, is_offloaded=False),)

    def _read_from_notes(self, notes: Vault, folder: str, origin: Origin) -> Iterator[Skill]:
        """Yield the skills in a folder of notes that models may read."""
        root = Path(os.path.realpath(notes.root))
        may_read = partial(_may_read, root, ExcludeRules.load(root, notes.exclude))
        for found in _list_folders(root / folder):
            if may_read(found / FILE):
                skill = _read_skill(found, origin, may_read)
                decision = self._decisions.find_decision(skill.digest) if skill.digest else None
                yield replace(skill, decision=decision)


def build_offer(skills: Sequence[Skill]) -> Segment | None:
    """Return the names and descriptions of skills as a segment for the system message, or None."""
    if not skills:
        return None
    text = _OFFER + "\n".join(skill.offer for skill in skills)
    return Segment.build(
        id=SECTION,
        layer=Layer.L1,
        kind="file",
        source=SECTION,
        text=text,
        version=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
        title=", ".join(skill.name for skill in skills),
    )


def _list_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders of a folder that have a `SKILL.md`, in the order of their names."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    found = (folder / name for name in names if not name.startswith("."))
    return tuple(one for one in found if os.path.lexists(one / FILE))[:MOST_SKILLS]


def _may_read(root: Path, rules: ExcludeRules, file: Path) -> bool:
    """Return whether models may read a file of the notes, given by its path with links.

    Neither its path nor that of the file it leads to may be excluded, nor the file be private.
    """
    real = Path(os.path.realpath(file))
    if not real.is_relative_to(root):
        return False
    paths = {path.relative_to(root).parts for path in (file, real)}
    if any(_is_excluded(parts, rules) for parts in paths):
        return False
    return not is_private(root, real.relative_to(root).as_posix())


def _is_excluded(parts: Sequence[str], rules: ExcludeRules) -> bool:
    """Return whether a rule of the user excludes a file or a folder above it."""
    paths = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return any(rules.find_rule(path, path.count("/") + 1 < len(parts)) for path in paths)


def _read_skill(folder: Path, origin: Origin, may_read: MayRead = os.path.exists) -> Skill:
    try:
        contents = _read_contents(folder, may_read)
        digest = _compute_digest(contents)
        front, text = _split_front_matter(contents.pop(FILE))
        name, description = _read_names(front)
    except _Malformed as error:
        return Skill(folder.name, origin, folder, problem=str(error))
    except OSError as error:
        return Skill(folder.name, origin, folder, problem=f"It cannot be read: {error.strerror}.")
    return Skill(name, origin, folder, description, text, contents, digest)


def _read_contents(folder: Path, may_read: MayRead) -> dict[str, bytes]:
    """Read the files of a skill. Hidden files, and links that lead out of it, are left out."""
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for path in filter(may_read, _walk(folder)):
        if len(found) >= MOST_FILES:
            raise _Malformed(f"It has more than {MOST_FILES} files.")
        content = read_file(path, left + 1)
        left -= len(content)
        if left < 0:
            raise _Malformed(f"Its files have more than {MOST_BYTES // 1_000:,} kB.")
        found[path.relative_to(folder).as_posix()] = content
    if FILE not in found:
        raise _Malformed(f"Its {FILE} is not a file, or leads out of the folder.")
    return found


def _walk(folder: Path) -> Iterator[Path]:
    base = os.path.realpath(folder)
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            real = Path(os.path.realpath(path))
            if name.startswith(".") or not real.is_relative_to(base) or not path.is_file():
                continue
            if not any(part.startswith(".") for part in real.relative_to(base).parts):
                yield path


def _compute_digest(contents: Mapping[str, bytes]) -> str:
    hashes = ((name, hashlib.sha256(data).hexdigest()) for name, data in contents.items())
    parts = (f"{len(name)}:{name}:{hash}" for name, hash in hashes)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _split_front_matter(content: bytes) -> tuple[str, str]:
    try:
        text = normalize_line_ends(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _Malformed(f"Its {FILE} is not UTF-8.") from None
    found = _FRONT.match(text)
    if found is None:
        raise _Malformed(f"Its {FILE} does not begin with a name and a description between ---.")
    body = text[found.end() :].strip()
    if not body:
        raise _Malformed(f"Its {FILE} has no text below the front matter.")
    return found["front"], body


def _read_names(front: str) -> tuple[str, str]:
    if fault := find_fault(front):
        raise _Malformed(f"The front matter of its {FILE} cannot be read: {fault}.")
    properties = load_properties(front)
    name, description = (properties.get(key) for key in ("name", "description"))
    if not isinstance(name, str) or not _NAME.fullmatch(name.strip()):
        raise _Malformed("Its name is not made of lower-case letters, digits and hyphens.")
    if not isinstance(description, str) or not description.strip():
        raise _Malformed("It has no description.")
    plain = " ".join("".join(c if c.isprintable() else " " for c in description).split())
    if len(plain) > MOST_DESCRIPTION_CHARS:
        raise _Malformed(f"Its description has more than {MOST_DESCRIPTION_CHARS:,} characters.")
    return name.strip(), plain


def _mark_repeated(skills: Sequence[Skill]) -> Iterator[Skill]:
    """Yield skills. Those whose name an earlier one has too cannot be used.

    A skill that the user refused does not take its name from others.
    """
    names: set[str] = set()
    for skill in skills:
        if skill.problem or skill.name not in names:
            yield skill
        else:
            yield replace(skill, problem=f"Another skill above has the name {skill.name}.")
        if skill.state not in ("invalid", "refused"):
            names.add(skill.name)
