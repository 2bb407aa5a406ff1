"""Lists of tasks by tag: which tasks have a tag, of their own or by their note."""

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

MANY = ", ".join(f"#a{number}" for number in range(300))
NOTES = {
    "Diary.md": (
        "# Monday\n\nBought wood for the fence. #house\n\n"
        "- [ ] Phone mum\n- [ ] Oil the gate #house/fence\n- [x] Sweep #house\n"
    ),
    "Front.md": "---\ntags: [house]\n---\n# Boiler\n\n- [ ] Bleed the radiators\n",
    "Line.md": "# Attic\n\n#house #dusty\n\n- [ ] Carry the boxes down\n",
    "Named.md": "# Cellar\n\nTags: #house\n\n- [ ] Dry the floor\n",
    "Field.md": "tags:: #house, #damp\n\n# Bath\n\n- [ ] Grout the tiles\n",
    "Head.md": (
        "# Weekend\n\n## Jobs #house\n\n- [ ] Wash the windows\n\n## Fun\n\n- [ ] Fly the kite\n"
    ),
    # A line that is almost one of tags alone.
    "Many.md": f"# List\n\nTopics: {MANY} and others\n\n- [ ] Pay the bill #urgent\n",
    "Work/Office.md": "# Office\n\nA house style is due. #house\n\n- [ ] Order paper\n",
}
BY_TASK = {"Oil the gate", "Wash the windows"}
BY_NOTE = {"Bleed the radiators", "Carry the boxes down", "Dry the floor", "Grout the tiles"}
OTHERS = {"Phone mum", "Fly the kite", "Order paper", "Pay the bill"}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


def list_tasks(index: Vault, query: str) -> set[str]:
    hits = index.list_notes(query, 100).hits
    return {hit.text.partition("] ")[2].partition(" #")[0] for hit in hits}


@pytest.mark.parametrize(
    ("query", "tasks"),
    [
        ("task:open tag:house", BY_TASK | BY_NOTE),
        ("task:open tag:house/fence", {"Oil the gate"}),
        ("task:open -tag:house", OTHERS),
        ("task:open -tag:dusty", OTHERS | BY_TASK | BY_NOTE - {"Carry the boxes down"}),
        ("task:open tag:house/fence OR tag:dusty", {"Oil the gate", "Carry the boxes down"}),
        ("task:open tag:dusty OR folder:Work", {"Carry the boxes down", "Order paper"}),
        ("task:open tag:house tag:damp", {"Grout the tiles"}),
        ("task:done tag:house", {"Sweep"}),
        ("task:open tag:house radiators", {"Bleed the radiators"}),
        ("task:open tag:nothing", set()),
        ("task:open tag:urgent", {"Pay the bill"}),
        ("task:open tag:a7", set()),
    ],
)
def test_a_tag_of_a_task_is_its_own_or_that_of_its_note(
    index: Vault, query: str, tasks: set[str]
) -> None:
    assert list_tasks(index, query) == tasks


def test_a_search_for_tagged_tasks_leaves_out_other_tasks_of_the_note(index: Vault) -> None:
    found = {hit.path for hit in index.search("task:open tag:house", 20).hits}
    assert found == {"Diary.md", "Front.md", "Line.md", "Named.md", "Field.md", "Head.md"}


def test_a_question_for_tagged_tasks_counts_those(index: Vault) -> None:
    reading = index.read_question("How many open tasks have the tag #house?")
    assert reading is not None
    assert index.list_notes(reading.query, 10).describe_total() == (
        "6 open tasks with the tag #house; searched all 8 notes."
    )
