"""Errors that are fastlb's own; bad input raises the built-in ones."""


class DeadlockError(ValueError):
    """A task exchange in which every remaining sender waits for another (Wu-Shu section 3)."""


class ExecutorError(RuntimeError):
    """The executor of a study died or lost trials; those in a store stay there."""


class FaultError(ValueError):
    """The faulty links leave no plan for fault-tolerant DEM (More-Wu section 2.2)."""


class MissingExtraError(ImportError):
    """An optional library is not installed; the message says what to install."""


class UnboundedError(ValueError):
    """A flow without a largest value or a least cost, as links are unlimited."""
