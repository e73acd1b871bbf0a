"""``python -m fastlb``: the command line."""

from .cli import main

main()
