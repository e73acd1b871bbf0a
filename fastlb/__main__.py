"""``python -m fastlb``: the command line."""

from .cli import main

if __name__ == "__main__":  # processes that are spawned import this module under another name
    main()
