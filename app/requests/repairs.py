"""Add spare bytes to data, from which its damaged parts are computed again.

The data is cut into sectors of equal size, and spare sectors are added: sums of all others, each
with other factors. As many sectors as were added may be damaged at once, wherever they are, as in
the erasure codes of Reed and Solomon. Each sector has a checksum, so that it is known which ones
are damaged. Sums and products are those of the field with 256 elements.

    checksums of all sectors | spare sectors | data
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

__all__ = ["add_spare", "count_spare_bytes", "restore"]

_CHECK_BYTES: Final = 4
_LEAST_SECTOR_BYTES: Final = 64
_MOST_SECTORS: Final = 48
_VALUES: Final = 256
_POLYNOMIAL: Final = 0x11D  # of degree 8, by which the number 2 generates the field


def add_spare(data: bytes, spare: int) -> bytes:
    """Return data with spare sectors before it.

    Args:
        spare: how many sectors may be damaged.
    """
    sectors = _cut(data, _find_sector_bytes(len(data)))
    spares = [_sum_up(row, dict(enumerate(sectors))) for row in _list_factors(len(sectors), spare)]
    checks = map(_check, (*sectors, *spares))
    return b"".join((*checks, *spares, data))


def count_spare_bytes(length: int, spare: int) -> int:
    """Return how many bytes stand before data of a length."""
    size = _find_sector_bytes(length)
    return (_CHECK_BYTES + size) * spare + _CHECK_BYTES * -(-length // size)


def restore(protected: bytes, length: int, spare: int) -> bytes:
    """Return data that was stored with spare sectors. What cannot be repaired is returned as it is.

    Args:
        protected: what `add_spare` has returned, perhaps damaged or cut.
        length: the length of the data.
        spare: the number of spare sectors.
    """
    size = _find_sector_bytes(length)
    count = -(-length // size)
    begin = count_spare_bytes(length, spare)
    protected = protected.ljust(begin + length, b"\0")
    checks = _cut(protected[: begin - spare * size], _CHECK_BYTES)
    spares = _cut(protected[begin - spare * size : begin], size)
    sectors = _cut(protected[begin : begin + length], size)
    whole = {at: one for at, one in enumerate(sectors) if _check(one) == checks[at]}
    sums = {at: one for at, one in enumerate(spares) if _check(one) == checks[count + at]}
    lost = [at for at in range(count) if at not in whole]
    if not lost or len(lost) > len(sums):
        return protected[begin : begin + length]
    found = whole | dict(_solve(lost, whole, sums, _list_factors(count, spare)))
    return b"".join(found[at] for at in range(count))[:length]


def _find_sector_bytes(length: int) -> int:
    return max(_LEAST_SECTOR_BYTES, -(-length // _MOST_SECTORS))


def _cut(data: bytes, size: int) -> list[bytes]:
    """Return the parts of data, the last one filled up with zeros."""
    return [data[at : at + size].ljust(size, b"\0") for at in range(0, len(data), size)]


def _check(sector: bytes) -> bytes:
    return zlib.crc32(sector).to_bytes(_CHECK_BYTES, "big")


def _list_factors(count: int, spare: int) -> list[list[int]]:
    """Return the factors of each spare sector: a Cauchy matrix, so that any rows can be solved."""
    return [[_invert(row ^ (spare + at)) for at in range(count)] for row in range(spare)]


def _solve(
    lost: Sequence[int],
    whole: Mapping[int, bytes],
    sums: Mapping[int, bytes],
    factors: Sequence[Sequence[int]],
) -> Iterator[tuple[int, bytes]]:
    """Yield the lost sectors with their numbers, by elimination."""
    rows: list[tuple[list[int], bytes]] = []
    for at in list(sums)[: len(lost)]:
        rest = _add(sums[at], _sum_up(factors[at], whole)) if whole else sums[at]
        rows.append(([factors[at][one] for one in lost], rest))
    for at in range(len(lost)):
        pivot = next(row for row in range(at, len(rows)) if rows[row][0][at])
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = _scale(rows[at], _invert(rows[at][0][at]))
        for other, row in enumerate(rows):
            if other != at and row[0][at]:
                numbers, rest = _scale(rows[at], row[0][at])
                both = zip(row[0], numbers, strict=True)
                rows[other] = ([one ^ another for one, another in both], _add(row[1], rest))
    yield from ((one, rest) for one, (_numbers, rest) in zip(lost, rows, strict=True))


def _scale(row: tuple[list[int], bytes], factor: int) -> tuple[list[int], bytes]:
    table = _list_products(factor)
    return [table[number] for number in row[0]], row[1].translate(table)


def _sum_up(factors: Sequence[int], sectors: Mapping[int, bytes]) -> bytes:
    """Return the sum of sectors, each multiplied with its factor."""
    total, size = 0, 0
    for at, sector in sectors.items():
        total ^= int.from_bytes(sector.translate(_list_products(factors[at])), "big")
        size = len(sector)
    return total.to_bytes(size, "big")


def _add(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).to_bytes(len(one), "big")


@cache
def _list_powers() -> tuple[Sequence[int], Mapping[int, int]]:
    """Return the powers of 2 in the field, and the exponent of each number."""
    powers, value = list[int](), 1
    for _ in range(_VALUES - 1):
        powers.append(value)
        value <<= 1
        value ^= _POLYNOMIAL if value >= _VALUES else 0
    return powers, {power: exponent for exponent, power in enumerate(powers)}


def _invert(number: int) -> int:
    powers, exponents = _list_powers()
    return powers[-exponents[number] % (_VALUES - 1)]


@cache
def _list_products(factor: int) -> bytes:
    """Return the products of a factor with all numbers of the field."""
    powers, exponents = _list_powers()
    found = [
        powers[(exponents[factor] + exponents[number]) % (_VALUES - 1)] if number and factor else 0
        for number in range(_VALUES)
    ]
    return bytes(found)
