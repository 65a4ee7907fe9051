#!/usr/bin/env python3
"""Proves what Scripts/checks/documents.py promises, on a small symbol graph."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).parent.parent / "checks" / "documents.py"

HEAD = "## A document\n\n| in the document | in Keel | what changed, and why |\n|---|---|---|\n"


class Documents(unittest.TestCase):
    def outcome(self, rows, modules="One"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            graph = {"symbols": [{"pathComponents": ["Cache"]}, {"pathComponents": ["Cache", "get(_:)"]}]}
            (folder / "One.symbols.json").write_text(json.dumps(graph))
            extension = {"symbols": [{"pathComponents": ["Logger", "logInfo(_:)"]}]}
            (folder / "One@Logging.symbols.json").write_text(json.dumps(extension))
            page = folder / "Page.md"
            page.write_text(rows)
            done = subprocess.run(
                [sys.executable, CHECK, folder, page], input=modules, capture_output=True, text=True
            )
            return done.returncode, done.stderr

    def test_symbols_and_extended_types_pass(self):
        rows = HEAD + "| `a` | `Cache`, `Cache.get(_:)` | x |\n| `b` | `Logger` | y |\n| c | – | z |\n"
        self.assertEqual(self.outcome(rows), (0, ""))

    def test_a_name_that_is_no_symbol_fails_with_its_line(self):
        code, said = self.outcome(HEAD + "| `a` | `Cache.fetch(_:)` | x |\n")
        self.assertEqual(code, 1)
        self.assertIn("Page.md:5: `Cache.fetch(_:)` is not a public symbol.", said)

    def test_a_row_that_says_nothing_fails(self):
        self.assertIn("name what is in Keel", self.outcome(HEAD + "| `a` | soon | x |\n")[1])
        self.assertIn("say what changed", self.outcome(HEAD + "| `a` | `Cache` | |\n")[1])
        self.assertIn("three columns", self.outcome(HEAD + "| `a` | `Cache` |\n")[1])

    def test_a_name_that_stands_twice_under_one_title_fails(self):
        rows = "| `a` | `Cache` | x |\n"
        self.assertIn("occurs twice under A document", self.outcome(HEAD + rows + rows)[1])
        self.assertEqual(self.outcome(HEAD + rows + HEAD.replace("A d", "Another d") + rows), (0, ""))

    def test_a_page_without_a_table_fails(self):
        self.assertEqual(self.outcome("| a | b |\n|---|---|\n| `x` | `y` |\n")[0], 1)

    def test_a_module_without_a_graph_is_an_error_of_its_own(self):
        self.assertEqual(self.outcome(HEAD, modules="Two")[0], 2)


if __name__ == "__main__":
    unittest.main()
