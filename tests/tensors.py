"""A stand-in for arrays of other libraries."""


class Tensor:
    """An array of another library, as NumPy sees it; ``error`` is raised when it is read."""

    def __init__(self, array, error=None, device="cpu"):
        self.array, self.error, self.device = array, error, device

    def __dlpack__(self, **options):
        if self.error:
            raise self.error
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array__(self, *options, **named):
        raise AssertionError("read as an array, by a copy")
