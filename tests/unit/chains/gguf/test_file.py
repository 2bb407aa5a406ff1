"""What the header of a file says about its model: its name, context, memory and tools."""

import os
from pathlib import Path

import pytest

from chains.gguf.file import ModelFile, find_path, make_name, read_model_file
from chains.gguf.header import BadModelFile
from chains.models import look_up_model
from tests.support.models.tiny_model import CONTEXT, NAME, WIDTH, write_model

MIB = 1 << 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny.gguf")


def refuse(path: Path) -> str:
    """Return why a file is refused."""
    with pytest.raises(BadModelFile) as raised:
        read_model_file(path)
    return str(raised.value)


def test_a_model_file_is_described_by_its_header(path: Path) -> None:
    file = read_model_file(path)
    assert (file.name, file.context_length, file.takes_tools) == (NAME, CONTEXT, True)
    assert file.size_bytes == path.stat().st_size
    assert file.token_bytes == 2 * WIDTH * 2  # one layer, keys and values, two bytes each
    assert file.count_context_bytes(1_000) == 1_000 * file.token_bytes
    needed = file.count_needed_bytes(1_000)
    assert needed == file.size_bytes + 1_000 * file.token_bytes + file.work_bytes


def test_a_name_that_cannot_be_shown_is_that_of_the_file(tmp_path: Path) -> None:
    for place, name in enumerate(("", "a\x00b", "\u202egnirts")):
        path = write_model(tmp_path / f"m{place}.gguf", general__name=name)
        assert read_model_file(path).name == f"m{place}"
    long = write_model(tmp_path / "long.gguf", general__name="Long " * 100)
    assert len(read_model_file(long).name) == 80


def test_a_context_takes_memory_in_the_layers_that_see_all_of_it(tmp_path: Path) -> None:
    def measure(**fields: object) -> ModelFile:
        number = len(list(tmp_path.iterdir()))
        return read_model_file(write_model(tmp_path / f"{number}.gguf", **fields))

    one = measure()
    assert measure(llama__block_count=6).token_bytes == 6 * one.token_bytes
    fewer = measure(llama__attention__head_count_kv=1)
    assert fewer.token_bytes == one.token_bytes / 5
    wider = measure(llama__attention__key_length=128, llama__attention__value_length=128)
    assert wider.token_bytes == 2 * one.token_bytes
    listed = measure(llama__block_count=3, llama__attention__head_count_kv=[5, 0, 5])
    assert listed.token_bytes == 2 * one.token_bytes
    window = {"llama__block_count": 6, "llama__attention__sliding_window": 512}
    assert measure(**window).token_bytes == 6 * one.token_bytes  # whose pattern is not known
    each = measure(**window, llama__attention__sliding_window_pattern=3)
    assert each.token_bytes == 2 * one.token_bytes
    assert each.window_bytes == 4 * one.token_bytes * (512 + 512)


def test_tools_need_a_place_in_the_prompt_template(tmp_path: Path) -> None:
    template = "{{ messages[0].content }}"
    path = write_model(tmp_path / "plain.gguf", tokenizer__chat_template=template)
    assert not read_model_file(path).takes_tools


def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, path: Path) -> None:
    assert refuse(tmp_path / "none.gguf") == "does not exist"
    assert refuse(tmp_path) == "is not a file"
    os.mkfifo(tmp_path / "pipe.gguf")
    assert refuse(tmp_path / "pipe.gguf") == "is not a file"
    assert refuse(Path("tiny.gguf")).startswith("is not a whole path")
    (tmp_path / "note.gguf").write_text("A note.", "utf-8")
    assert refuse(tmp_path / "note.gguf") == "is not a GGUF file"
    whole = path.read_bytes()
    path.write_bytes(whole[:1_000_000])
    assert refuse(path).startswith("is incomplete: it has 1.0 MB, and more than 2.")
    vision = write_model(tmp_path / "v.gguf", general__type="mmproj")
    assert refuse(vision) == "is a part of a model that sees, and cannot answer"
    vectors = write_model(tmp_path / "b.gguf", general__architecture="nomic-bert")
    assert refuse(vectors) == "is a model for other tasks, and cannot answer"
    other = write_model(tmp_path / "o.gguf", general__architecture="other")
    assert refuse(other) == "does not hold a whole language model"


def test_a_file_that_is_replaced_is_read_again(path: Path) -> None:
    before = read_model_file(path)
    write_model(path, llama__context_length=4_096)
    os.utime(path, ns=(0, before.changed_ns + 1))
    assert read_model_file(path).context_length == 4_096
    path.unlink()
    assert refuse(path) == "does not exist"


def test_a_model_in_parts_is_opened_by_its_first_part(tmp_path: Path) -> None:
    first, second = (tmp_path / f"big-0000{n}-of-00002.gguf" for n in (1, 2))
    write_model(first)
    assert refuse(first) == f"is one part of a model, and {second.name} is not beside it"
    second.write_bytes(bytes(5 * MIB))
    assert read_model_file(first).size_bytes == first.stat().st_size + 5 * MIB
    assert refuse(second) == "is a later part of a model: open its first part"


def test_the_name_of_a_model_is_a_prefix_and_the_path(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert make_name(path) == f"gguf/{path}"
    assert find_path(make_name(path)) == path
    assert find_path("openai/gguf/x") is None
    monkeypatch.setenv("HOME", str(path.parent))
    assert find_path("gguf/~/tiny.gguf") == path


def test_a_model_has_the_context_of_the_settings_or_a_shorter_one_of_its_own(path: Path) -> None:
    name = make_name(path)
    short = look_up_model(name, "http://127.0.0.1:9/v1", local_context=4_096)
    assert (short.input_limit, short.is_local, short.key_provider) == (4_096, True, None)
    assert look_up_model(name, local_context=100_000).input_limit == CONTEXT
    gone = look_up_model(f"{name}x")
    assert (gone.endpoint, gone.problem) == (None, f"{path}x does not exist.")
