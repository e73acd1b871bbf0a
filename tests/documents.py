"""The Python examples of a Markdown page, run as a reader would paste them."""

import re
import subprocess
import sys
from pathlib import Path

from .installed import ROOT, with_entry_points


def examples(text: str) -> list[str]:
    """Return the page's blocks of Python code."""
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def libraries(code: str) -> list[str]:
    """Return the names of the packages that an example imports."""
    return re.findall(r"^(?:import|from) (\w+)", code, re.M)


def printed(code: str) -> list[str]:
    """Return what each line's comment says it prints, up to a colon that begins an explanation."""
    comments = re.findall(r"^ *print\(.*\) +# (.*)$", code, re.M)
    return [" ".join(text.split(": ")[0].split()) for text in comments]


def run(code: str, folder: Path) -> list[str]:
    """Run an example as a file of a folder, in a process of its own; return the lines it prints."""
    # Examples run at the root of the repository, whose files they read; what they write is dropped.
    (folder / "bench").symlink_to(ROOT / "bench")
    (folder / "example.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "error", "example.py"],
        cwd=folder,
        env=with_entry_points(folder / "installed"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [" ".join(line.split()) for line in done.stdout.splitlines()]
