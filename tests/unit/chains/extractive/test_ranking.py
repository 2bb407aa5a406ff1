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


def test_parts_that_could_not_be_shown_are_not_compared_by_meaning():
    """Each comparison takes the model's time, for which the reader waits."""
    near = [f"The server is backed up at {hour} in the night." for hour in range(1, 13)]
    far = [f"Bed {number} has carrots and peas." for number in range(20)]
    parts = build_parts(passage("Home", "\n\n".join([*near, *far])))
    question = read_question("When is the server backed up?")
    compared = []

    def compare(_asked, texts):
        compared.extend(texts)
        return [0.6 if "server" in text else 0.1 for text in texts]

    def rank(compare):
        return rank_parts(question, parts, facet=question.facets[0], rarity={}, compare=compare)

    ranked = rank(compare)
    assert {text.removeprefix("Home. ") for text in compared} == set(near)
    assert {each.part.text for each in ranked} == set(near)
    assert len(rank(None)) == len(near) + len(far)
