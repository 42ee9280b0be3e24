"""`python -P -m gitmem`: the command where no console script is at hand."""

from gitmem.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
