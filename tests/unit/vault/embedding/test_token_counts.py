from hypothesis import given
from hypothesis import strategies as st

from vault.embedding.model_card import tokenizer
from vault.embedding.token_counts import CHARS_PER_TOKEN, count_tokens

WORDS = st.sampled_from(
    ["Tokenizer", "don't", "a_b", "EIP-1559", "0x12AB", "x" * 120, "[MASK]", "\t"]
)


def by_the_model(text: str) -> int:
    tokens = len(tokenizer().encode(text, add_special_tokens=False))
    return max(tokens, -(-len(text) // CHARS_PER_TOKEN))


@given(st.lists(st.one_of(st.text(max_size=40), st.lists(WORDS).map(" ".join)), max_size=8))
def test_counts_are_those_of_the_model(texts: list[str]) -> None:
    assert count_tokens(texts) == [by_the_model(text) for text in texts]


@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_any_ascii_is_counted_exactly(text: str) -> None:
    assert count_tokens([text]) == [by_the_model(text)]
