from chains.extractive.parts import build_parts
from chains.extractive.question import read_question
from chains.extractive.ranking import rank_parts
from context.layers import Layer, Segment


def passage(title, text):
    source = f"{title}.md"
    return Segment.build(
        id=source, layer=Layer.L3, kind="passage", source=source, title=title, text=text, number=1
    )


def test_the_title_of_another_thing_in_the_question_gives_no_bonus():
    question = read_question("How hot should tea or coffee be?")
    tea, coffee = question.facets
    text = "It should be at eighty degrees or a bit more."
    titles = ("Coffee", "Coffee house")
    parts = [part for title in titles for part in build_parts(passage(title, text))]

    def score(facet):
        ranked = rank_parts(question, parts, facet=facet, rarity={}, compare=None)
        return {each.part.source.title: each.score for each in ranked}

    assert score(coffee)["Coffee"] > score(coffee)["Coffee house"]
    assert score(tea)["Coffee"] == score(tea)["Coffee house"]


def test_a_label_that_only_repeats_the_question_is_left_out():
    question = read_question("What are the beds of the garden?")
    parts = build_parts(
        passage("Garden", "- The beds of the garden\n- Beans grow in the first bed.")
    )
    ranked = rank_parts(question, parts, facet=question.facets[0], rarity={}, compare=None)
    assert "The beds of the garden" not in {each.part.text for each in ranked}
    assert ranked


def test_a_link_alone_defines_nothing_but_can_be_the_answer_to_another_question():
    link, text = "[The guide to beans](https://beans.example/guide)", "Beans are climbing plants."
    parts = build_parts(passage("Plants", f"{link}\n\n{text}"))

    def rank(asked):
        question = read_question(asked)
        ranked = rank_parts(question, parts, facet=question.facets[0], rarity={}, compare=None)
        return {each.part.text for each in ranked if each.part.kind == "sentence"}

    assert "The guide to beans" not in rank("beans")
    assert {"The guide to beans", text} <= rank("Where can I read about beans?")


def test_the_plural_of_a_term_is_defined_by_the_same_sentence():
    texts = [
        "Plants are watered in the morning.",
        "One bean climbs on a pole in the bed.",
        "A bean is a climbing plant with pods.",
    ]
    parts = build_parts(passage("Plants", "\n\n".join(texts)))
    question = read_question("explain beans")
    ranked = rank_parts(question, parts, facet=question.facets[0], rarity={}, compare=None)
    assert ranked[0].part.text == texts[2]
