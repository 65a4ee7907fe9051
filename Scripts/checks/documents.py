#!/usr/bin/env python3
"""Checks the tables of a page "coming from": each name in the second column is a public symbol.

    swift package dump-symbol-graph --minimum-access-level public
    printf 'KeelCore\\n' | documents.py FOLDER_OF_SYMBOL_GRAPHS Documentation/ComingFromTheDocuments.md

Module names come on standard input. A table counts whose second heading is "in Keel". In its rows, each
span of code in the second column is a symbol as the documentation writes it (`Cache.get(_:)`); a row
without any says so with "–". Each first cell occurs once under its title.
Exits with 1 when a name is not a symbol, or a row has no name, with 2 when a module's graph is missing.
"""

import json
import pathlib
import re
import sys

folder, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

symbols = set()
for module in sys.stdin.read().split():
    graphs = [folder / f"{module}.symbols.json", *folder.glob(f"{module}@*.symbols.json")]
    if not graphs[0].exists():
        sys.exit(print(f"error: there is no symbol graph of {module} in {folder}.", file=sys.stderr) or 2)
    for graph in graphs:
        for symbol in json.loads(graph.read_text())["symbols"]:
            path = symbol["pathComponents"]
            # Of a type of another module only its extensions are here: the type counts by them.
            symbols.update(".".join(path[: end + 1]) for end in range(len(path)))

errors, rows, names = [], 0, 0
title, inside, seen = "", False, set()
for number, line in enumerate(page.read_text().splitlines(), start=1):
    if line.startswith("#"):
        title, inside, seen = line.strip("# "), False, set()
    if not line.startswith("|"):
        inside = False
        continue
    # A bar inside code is written as an entity by nobody here: no name of Swift has one.
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) > 1 and cells[1] == "in Keel":
        inside = True
        continue
    if not inside or set(line) <= set("|-: "):
        continue
    place = f"{page.as_posix()}:{number}"
    if len(cells) != 3:
        errors.append(f"{place}: a row has three columns, this one {len(cells)}.")
        continue
    rows += 1
    if cells[0] in seen:
        errors.append(f"{place}: {cells[0]} occurs twice under {title}.")
    seen.add(cells[0])
    found = re.findall(r"`([^`]+)`", cells[1])
    names += len(found)
    if not found and cells[1] != "–":
        errors.append(f"{place}: name what is in Keel, or write –.")
    if not cells[2]:
        errors.append(f"{place}: say what changed, and why.")
    errors += [f"{place}: `{name}` is not a public symbol." for name in found if name not in symbols]

if not rows:
    errors.append(f"{page.as_posix()}: there is no table with the heading \"in Keel\".")
for error in errors:
    print(f"error: {error}", file=sys.stderr)
print(f"    {page.name}: {names} names in {rows} rows, {len(errors)} errors.")
sys.exit(1 if errors else 0)
