"""How kernels are compiled: ``kernel`` for functions of their own, ``inlined`` for parts of others.

numba's cache on disk watches one file: that in which a function is defined. A kernel that takes
code from another file would keep the old code after an upgrade. So kernels share code through this
folder alone, and ``kernel`` stamps its cache entries with a hash of every file in this folder, too:
when a file here changes, all kernels are compiled again; when a file of kernels changes, only those
in it.
"""

from __future__ import annotations

import hashlib
import pickle
import pkgutil
from contextlib import suppress
from pathlib import Path

from numba import config, njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

# Raised over a cache file that was cut short, cannot be written, or that another version wrote.
CACHE_ERRORS = OSError, EOFError, ValueError, pickle.UnpicklingError, ImportError, AttributeError


def _hash_of_this_folder():
    """Return a hash of the source of every module beside this one, in a zip file too."""
    digest = hashlib.sha256()
    folder = str(Path(__file__).parent)
    for module in sorted(pkgutil.iter_modules([folder]), key=lambda module: module.name):
        loader = module.module_finder.find_spec(module.name).loader
        digest.update(loader.get_data(loader.get_filename(module.name)))
    return digest.hexdigest()


SHARED_HASH = _hash_of_this_folder()


class _Cache(FunctionCache):
    """The cache of one function; what cannot be read is compiled, what cannot be written is not."""

    def __init__(self, function):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), SHARED_HASH
        self._cache_file = IndexDataCacheFile(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature, context):
        try:
            return super().load_overload(signature, context)
        except CACHE_ERRORS:
            return None

    def save_overload(self, signature, data):
        with suppress(*CACHE_ERRORS):
            super().save_overload(signature, data)


def compile_through(compile_for, *arguments):
    """Call what compiles a kernel for arguments; the package puts its own function here."""
    return compile_for(*arguments)


def kernel(function):
    """Compile a function at its first call, without the interpreter's lock, and cache it on disk.

    Where no folder for the cache can be written, every process compiles for itself.
    """
    # A kernel is never called back from C, so numba need not compile a wrapper for that.
    compiled = njit(nogil=True, no_cfunc_wrapper=True)(function)
    if not config.DISABLE_JIT:
        compile_for = compiled._compile_for_args
        compiled._compile_for_args = lambda *arguments: compile_through(compile_for, *arguments)
        # numba raises RuntimeError where it finds no folder.
        with suppress(RuntimeError):
            compiled._cache = _Cache(function)
    return compiled


def inlined(function):
    """Make a function part of every kernel that calls it.

    numba optimises a function of its own alone and once more in each caller, 0.2 to 0.5 s each
    time. Inlined, it costs a third of that at each place that calls it: use this for what one or
    two places call.
    """
    return njit(inline="always", nogil=True)(function)
