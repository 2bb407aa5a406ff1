"""Data is computed again from its spare bytes while no more sectors are damaged than were added."""

from hypothesis import given
from hypothesis import strategies as st

from app.requests.repairs import add_spare, count_spare_bytes, restore


@given(st.binary(min_size=1, max_size=5_000), st.integers(1, 5), st.data())
def test_as_many_places_as_spare_sectors_may_be_damaged(
    data: bytes, spare: int, drawn: st.DataObject
) -> None:
    protected = bytearray(add_spare(data, spare))
    assert len(protected) == count_spare_bytes(len(data), spare) + len(data)
    places = st.lists(st.integers(0, len(protected) - 1), max_size=spare)
    for at in drawn.draw(places):
        protected[at] ^= drawn.draw(st.integers(1, 255))
    assert restore(bytes(protected), len(data), spare) == data


@given(st.binary(min_size=200, max_size=5_000), st.data())
def test_what_is_cut_off_is_computed_again(data: bytes, drawn: st.DataObject) -> None:
    cut = drawn.draw(st.integers(1, 64))
    assert restore(add_spare(data, 2)[:-cut], len(data), 2) == data


def test_data_with_more_damage_is_returned_as_it_is() -> None:
    data = bytes(range(256)) * 20
    protected = add_spare(data, 1)
    changed = protected[: -len(data)] + b"?" * 400 + data[400:]
    assert restore(changed, len(data), 1) == b"?" * 400 + data[400:]
