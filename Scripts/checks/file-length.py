#!/usr/bin/env python3
"""Fails for a file of more than 500 lines, and names those of more than 400.

File names come on standard input. A file whose first line begins with "// Generated" is exempt.
"""

import pathlib
import sys

root = pathlib.Path(sys.argv[1])
too_long = 0
for name in sys.stdin.read().splitlines():
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    if len(lines) <= 400 or lines[0].startswith("// Generated"):
        continue
    if len(lines) > 500:
        too_long += 1
        print(f"error: {name} has {len(lines)} lines, more than 500: split it.", file=sys.stderr)
    else:
        print(f"    {name} has {len(lines)} lines: is it one thing?")
sys.exit(1 if too_long else 0)
