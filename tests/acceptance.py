"""Prints which rows of tests/data/acceptance.md have a test that carries their number."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


def rows() -> list[str]:
    return re.findall(r"^\| ([A-Z]{3}-\d\d) \|", (HERE / "data/acceptance.md").read_text(), re.MULTILINE)


def named() -> set[str]:
    """Rows named by a test function, `test_GIT_01_…`."""
    text = "\n".join(path.read_text() for path in HERE.glob("test_*.py"))
    return {f"{area}-{number}" for area, number in re.findall(r"def test_([A-Z]{3})_(\d\d)_", text)}


def main() -> int:
    have = named()
    listed = rows()
    for area in dict.fromkeys(row[:3] for row in listed):
        marks = [row[4:] + ("" if row in have else " missing") for row in listed if row.startswith(area)]
        sys.stdout.write(f"{area}  {', '.join(marks)}\n")
    sys.stdout.write(f"{len(have & set(listed))} of {len(listed)} rows have a test\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
