#!/usr/bin/env python3
"""Writes the page of what products cost, from the figures of Scripts/cost/measure.py.

    swift --version | page.py <folder of figures> <bytes of Keel's own files>
"""

import datetime
import json
import pathlib
import platform
import re
import sys
import textwrap

folder, own_bytes = pathlib.Path(sys.argv[1]), int(sys.argv[2])
version = re.search(r"Swift version ([\d.]+)", sys.stdin.read())[1]
figures = {
    configuration: {
        product: row
        for path in sorted(folder.glob(f"{configuration}-*.json"))
        for product, row in json.loads(path.read_text()).items()
    }
    for configuration in ("debug", "release")
}
rows = figures["release"] | figures["debug"] if figures["debug"] else figures["release"]
if not rows:
    sys.exit("error: there are no figures. Run: Scripts/cost.sh debug")


def mega(number):
    return f"{number / 1e6:.1f}"


def kilolines(number):
    return f"{number / 1000:.1f}" if number else "–"


def size(configuration, product):
    row = figures[configuration].get(product)
    return mega(row["bytes"] - figures[configuration]["nothing"]["bytes"]) if row else None


configurations = [c for c in ("debug", "release") if "nothing" in figures[c]]
nothing = ", ".join(f"{rows['nothing']['bytes'] / 1e3:.0f} kB ({c})" for c in configurations[:1])
if len(configurations) == 2:
    nothing = ", ".join(f"{figures[c]['nothing']['bytes'] / 1e3:.0f} kB ({c})" for c in configurations)

print(f"""# What Keel costs

The cost of each product of Keel to an app, written by `Scripts/cost.sh` on {datetime.date.today().isoformat()}, with Swift {version} on {platform.system()}
({platform.machine()}).

- **Packages** are the third-party packages that SwiftPM resolves, with the size of their files, without their
  histories. Keel itself adds {mega(own_bytes)} MB, including its tests and documentation.
- **Modules** are those compiled for a program that uses the product: Keel's own + others. **Swift** and **C** (with C++
  and assembly) are their lines in thousands, including comments and empty lines.
- **Linked** is the size in megabytes that one call of the product (`Scripts/cost/Programs`) adds to a stripped program,
  without Swift's libraries and Foundation, which are linked dynamically.
  An empty program has {nothing}.
""")
titles = "".join(f" linked, {c} |" for c in configurations)
print(f"| product | traits | packages | MB | modules | Swift | C |{titles}")
print("|---|---|---|---|---|---|---|" + "---|" * len(configurations))
for product, row in sorted(rows.items()):
    if product == "nothing":
        continue
    traits = {"none": "–", "default": "the default ones"}.get(row["traits"], f"`{row['traits']}`")
    sizes = "".join(f" {size(c, product) or '–'} |" for c in configurations)
    print(
        f"| `{product}` | {traits} | {len(row['packages'])} | {mega(sum(row['packages'].values()))} "
        f"| {row['keel_modules']} + {row['other_modules']} | {kilolines(row['swift_lines'])} "
        f"| {kilolines(row['c_lines'])} |{sizes}"
    )

if any(product not in figures[c] for c in configurations for product in rows):
    print("\nA dash for a size: this run has not measured it.")

programs = {path.stem for path in (pathlib.Path(__file__).parent / "Programs").glob("*.swift")}
if missing := sorted(programs - rows.keys()):
    text = "Not measured yet: " + ", ".join(f"`{product}`" for product in missing) + "."
    print("\n" + textwrap.fill(text, 120))

sets = {}
for row in rows.values():
    sets.setdefault(row["traits"], row["packages"])
print("""
## Packages

| traits | packages, in megabytes |
|---|---|""")
for traits, packages in sorted(sets.items(), key=lambda pair: len(pair[1])):
    name = {"none": "none", "default": "the default ones"}.get(traits, f"`{traits}`")
    listed = sorted(packages.items(), key=lambda pair: -pair[1])
    print(f"| {name} | " + ", ".join(f"{p} {mega(b)}" for p, b in listed) + " |")

print("""
## How to read it

- A trait decides what is downloaded, a product what is compiled and linked. `traits: []` on the dependency is the
  minimum. Without a trait, some products [lack features](Platforms.md#traits).
- Debug builds keep unused code, which an app in release does not have.
- KeelTestKit, KeelTestServer, KeelConformance and KeelDependenciesTesting are for tests only.""")
