from context.prompt import PromptBuilder, PromptSection


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
