#!/usr/bin/env python3
"""Lists public symbols without documentation. Module names come on standard input.

    swift package dump-symbol-graph --minimum-access-level public
    printf 'KeelCore\\n' | doc-coverage.py FOLDER_OF_SYMBOL_GRAPHS

Documentation that a symbol inherits counts: a witness has that of its protocol's requirement.
Exits with 1 when a symbol has none, with 2 when a module's graph is missing.
"""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
documented, bare = 0, []
for module in sys.stdin.read().split():
    graphs = [folder / f"{module}.symbols.json", *folder.glob(f"{module}@*.symbols.json")]
    if not graphs[0].exists():
        sys.exit(print(f"error: there is no symbol graph of {module} in {folder}.", file=sys.stderr) or 2)
    for graph in map(json.loads, (path.read_text() for path in graphs)):
        inheriting = {r["source"] for r in graph["relationships"] if "sourceOrigin" in r}
        for symbol in graph["symbols"]:
            name = ".".join([module, *symbol["pathComponents"]])
            if "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
                continue
            if symbol["kind"]["identifier"] == "swift.extension":
                continue
            if "docComment" in symbol or symbol["identifier"]["precise"] in inheriting:
                documented += 1
                continue
            place = symbol.get("location")
            where = ""
            if place:
                where = f"{place['uri'].removeprefix('file://')}:{place['position']['line'] + 1}: "
            bare.append(f"{where}{name} ({symbol['kind']['displayName']})")

for line in sorted(bare):
    print(f"error: no documentation: {line}", file=sys.stderr)
print(f"    {documented} public symbols are documented, {len(bare)} are not.")
sys.exit(1 if bare else 0)
