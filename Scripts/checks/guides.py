#!/usr/bin/env python3
"""Makes a DocC catalog of the pages in Documentation.

    guides.py ROOT CATALOG [BASE]

Links between the pages become DocC's; links to the articles of a library lead to its pages on the
same site, which lies under /BASE; of a link to any other file its text and the file's name remain.
"""

import pathlib
import re
import sys

GROUPS = [
    ("Start here", ["YourFirstWeek", "Xcode", "Offline", "UserData", "CommandLine", "Architecture"]),
    (
        "Coming from elsewhere",
        [
            "ComingFromFirebase",
            "InsteadOfTheFirestoreEmulator",
            "ComingFromOtherDatabases",
            "ComingFromTheDocuments",
            "Checklists",
        ],
    ),
    ("Servers", ["Deployment", "AccessRules", "PostgreSQL", "Scaling", "Operations"]),
    ("Logs and analytics", ["Logging", "Analytics", "AnalyticsDestinations"]),
    ("Facts", ["Benchmarks", "Cost", "Conformance", "Platforms", "Coverage", "Lint"]),
]


def headings(text):
    """The headings of a page outside of its code, as (slug that GitHub makes, text)."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for match in re.finditer(r"^#+ (.+)$", prose, flags=re.MULTILINE):
        title = match[1].replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        yield slug, title


def anchor(page, fragment):
    """DocC's anchor for a heading that GitHub calls `fragment`; none if the page has no such heading."""
    for slug, title in headings(page.read_text()):
        if slug == fragment:
            return "#" + re.sub(r"[^\w\-’']+", "-", title).strip("-")
    sys.exit(f"error: {page} has no heading '{fragment}'.")


def convert(page, pages, base):
    def link(match):
        text, target = match[1], match[2]
        if re.match(r"[a-z]+:", target):
            return match[0]
        name, _, fragment = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if file in pages:
            return f"[{text}](doc:{file.stem}{anchor(file, fragment) if fragment else ''})"
        catalog = next((part for part in file.parents if part.suffix == ".docc"), None)
        if catalog and file.suffix == ".md":
            article = f"{catalog.stem}/{file.stem}" if file.stem != catalog.stem else catalog.stem
            return f"[{text}]({base}/documentation/{article.lower()})"
        return text if "`" in text else f"{text} (`{file.name}`)"

    # The parts between fences; their contents stay as they are.
    parts = re.split(r"(^```.*?^```)", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for number in range(0, len(parts), 2):
        parts[number] = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", link, parts[number])
    return "".join(parts)


def main():
    root, catalog = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    base = "/" + sys.argv[3].strip("/") if sys.argv[3:] and sys.argv[3] else ""
    documentation = root / "Documentation"
    pages = sorted(documentation.rglob("*.md"))
    pages = [page for page in pages if page.stem != "0000-template"]
    groups = [(title, list(names)) for title, names in GROUPS]
    known = {name for _, names in groups for name in names}
    top = [page.stem for page in pages if page.parent == documentation]
    for name in known - set(top):
        sys.exit(f"error: Documentation/{name}.md is missing; {pathlib.Path(__file__).name} names it.")
    groups.append(("More", [name for name in top if name not in known]))
    for folder in ("Protocols", "Decisions"):
        groups.append((folder, [page.stem for page in pages if page.parent.name == folder]))
    catalog.mkdir(parents=True)
    for page in pages:
        (catalog / page.name).write_text(convert(page, pages, base))
    lists = [
        f"### {title}\n\n" + "".join(f"- <doc:{name}>\n" for name in names)
        for title, names in groups
        if names
    ]
    (catalog / "Guides.md").write_text(
        "# Guides\n\n@Metadata {\n    @TechnologyRoot\n}\n\n"
        "How to begin with Keel, what it does and what it costs, and why it is built as it is.\n\n"
        "## Topics\n\n" + "\n".join(lists)
    )


main()
