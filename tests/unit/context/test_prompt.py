from context.envelope import System
from context.prompt import InstructionsText, PromptBuilder, PromptSection, make_system_parts


def test_sections_are_elements_joined_by_a_blank_line():
    builder = PromptBuilder((PromptSection("a", "1", True), PromptSection("b", "2", True)))
    assert builder.build() == ("<a>\n1\n</a>\n\n<b>\n2\n</b>", [])


def test_static_sections_come_before_dynamic_ones_each_in_the_order_of_adding():
    builder = (
        PromptBuilder()
        .add(PromptSection("d1", "", False))
        .add(PromptSection("s1", "", True))
        .add(PromptSection("d2", "", False))
        .add(PromptSection("s2", "", True))
    )
    prompt, breakpoints = builder.build()
    assert [prompt.index(f"<{name}>") for name in ("s1", "s2", "d1", "d2")] == sorted(
        prompt.index(f"<{name}>") for name in ("s1", "s2", "d1", "d2")
    )
    assert breakpoints == [prompt.index("</s2>") + len("</s2>")]


def test_the_breakpoint_is_in_characters():
    builder = PromptBuilder((PromptSection("s", "東京 🗼", True), PromptSection("d", "x", False)))
    prompt, [breakpoint_] = builder.build()
    assert prompt[:breakpoint_] == "<s>\n東京 🗼\n</s>"


def test_there_is_no_breakpoint_unless_both_kinds_exist():
    assert PromptBuilder((PromptSection("d", "x", False),)).build()[1] == []
    assert PromptBuilder((PromptSection("s", "x", True),)).build()[1] == []
    assert PromptBuilder().build() == ("", [])


def test_content_is_escaped():
    prompt, _ = PromptBuilder((PromptSection("a", '</a> & "b"', True),)).build()
    assert prompt == '<a>\n&lt;/a&gt; &amp; "b"\n</a>'


def test_adding_leaves_the_builder_as_it_was():
    builder = PromptBuilder()
    builder.add(PromptSection("a", "1", True))
    assert builder.build() == ("", [])


BASE = (PromptSection("role", "Be kind.", True), PromptSection("phase", "Now.", False))


def test_instructions_stand_behind_the_prompt_and_before_what_changes_each_time():
    agents = InstructionsText("project_instructions", "Use <b> & tables.\n")
    parts = make_system_parts(
        "agent", BASE, [InstructionsText("user_instructions", "Be brief."), agents]
    )
    assert [part.name for part in parts] == [
        "agent",
        "user_instructions",
        "project_instructions",
        "agent_state",
    ]
    assert System(parts).compiled == (
        "<role>\nBe kind.\n</role>\n\n"
        "<user_instructions>\nBe brief.\n</user_instructions>\n\n"
        "<project_instructions>\nUse &lt;b&gt; &amp; tables.\n</project_instructions>\n\n"
        "<phase>\nNow.\n</phase>"
    )


def test_without_additions_the_prompt_is_what_its_builder_makes():
    parts = make_system_parts("agent", BASE[:1], [InstructionsText("user_instructions", " ")])
    assert [part.text for part in parts] == [PromptBuilder(BASE[:1]).build()[0]]


def test_the_instructions_begin_with_what_stands_before_the_breakpoint():
    base = (
        PromptSection("a", "1", cacheable=True),
        PromptSection("d", "now", cacheable=False),
        PromptSection("b", "2", cacheable=True),
    )
    prompt, (end,) = PromptBuilder(base).build()
    parts = make_system_parts("base", base, [InstructionsText("mine", "Be kind.")])
    assert [part.name for part in parts] == ["base", "mine", "base_state"]
    assert parts[0].text == prompt[:end]
    assert parts[2].text == prompt[end:]
