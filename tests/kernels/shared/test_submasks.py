"""Numbers of a mask's bits, one after the other."""

from __future__ import annotations

from fastlb.kernels.shared.compiling import kernel
from fastlb.kernels.shared.submasks import next_submask


@kernel
def following(number: int, mask: int) -> int:
    result: int = next_submask(number, mask)
    return result


def test_every_number_of_a_masks_bits_is_met_in_order() -> None:
    for mask in [*range(70), 2**62 | 2**40 | 1]:
        numbers = [0]
        for bit in range(63):
            if mask >> bit & 1:
                numbers += [number | 1 << bit for number in numbers]
        for number, expected in zip(numbers, [*numbers[1:], 0], strict=True):
            assert following(number, mask) == expected
