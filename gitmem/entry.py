"""What hooks start: `python -I -S entry.py CLIENT EVENT`.

-I -S keeps the user's own modules, environment and site-packages out and costs 8 ms less. The folder above is added
last, so that the standard library is always the standard library. The process is over in 30 ms: no garbage is worth
collecting, and the interpreter is not taken down piece by piece (together 4 ms, bench/hooks.md).
"""

import gc
import os
import sys

if __name__ == "__main__":
    gc.disable()
    sys.path.append(__file__.rsplit("/", 2)[0])
    from gitmem.commands.hook import main

    status = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)
