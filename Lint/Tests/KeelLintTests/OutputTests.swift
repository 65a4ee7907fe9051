import Foundation
import KeelLint
import Testing

@Suite("Reports")
struct OutputTests {
    /// Returns the report for an app with findings of several kinds.
    private func sample() throws -> LintReport {
        try TemporaryProject([
            "keel-lint.yml": """
            version: 1
            profiles: [clean-architecture]
            layers:
              - {name: Domain, paths: [Notes/Domain], uses: []}
              - {name: Data, paths: [Notes/Data], uses: [Domain]}
            contracts:
              - name: no-circles
                type: acyclic
                between: layers
                because: 100 % of "circles" <are> bad, see a:b
            """,
            "Notes/Domain/A b.swift": "struct A { let b: B }\nlet id = UUID()\n",
            "Notes/Data/B.swift": "struct B { let a: A? }\n",
        ]).lint()
    }

    @Test("Text reports have the format that editors understand")
    func text() throws {
        let lines = TextReport.text(try sample()).split(separator: "\n")
        #expect(
            lines.contains {
                $0.hasPrefix("Notes/Domain/A b.swift:1:19: error: [layers] Domain uses `B` of Data")
            }
        )
        #expect(lines.last == "keel-lint: 2 files; 3 errors")
        #expect(lines.contains { $0.hasPrefix("    `") || $0.hasPrefix("    Data → Domain") })
    }

    @Test(
        "A user that is a part of what it must not use has the name of the user",
        arguments: [
            ("B", "`**/Models/**` uses `B`, which is `Data`."),
            ("C", "`**/Models/**` reaches `Data`: `**/Models/**` → `Notes` → `Data`."),
        ]
    )
    func overlap(used: String, message: String) throws {
        let report = try TemporaryProject([
            "keel-lint.yml": """
            version: 1
            layers:
              - {name: Data, paths: [Notes/Data], uses: any}
            contracts:
              - {name: models-alone, type: forbidden, from: ["**/Models/**"], to: [Data]}
            """,
            "Notes/Data/Models/A.swift": "struct A { let used: \(used) }\n",
            "Notes/Data/B.swift": "struct B {}\n",
            "Notes/C.swift": "struct C { let b: B }\n",
        ]).lint()
        #expect(report.findings.map(\.message) == [message])
    }

    @Test("JSON contains every finding with all details")
    func json() throws {
        let report = try sample()
        let root = try #require(
            try JSONSerialization.jsonObject(with: JSONReport.data(report)) as? [String: Any]
        )
        let findings = try #require(root["findings"] as? [[String: Any]])
        #expect(findings.count == report.findings.count)
        #expect(
            Set(findings[0].keys) == [
                "rule", "severity", "file", "line", "column", "symbol", "message", "help", "chain",
            ]
        )
        #expect(root["version"] as? Int == 1)
    }

    @Test("GitHub commands escape special characters")
    func github() throws {
        let lines = GitHubReport.text(try sample()).split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("::") })
        #expect(lines.count == 4)
        #expect(lines.contains { $0.contains("title=no-circles::") && $0.contains("100 %25") })
        #expect(
            lines.contains {
                $0.hasPrefix("::error file=Notes/Domain/A b.swift,line=1,col=19,title=layers::")
            }
        )
    }

    @Test("Mermaid and DOT draw each layer and mark violations")
    func graphs() throws {
        let drawing = LayerDrawing(try sample())
        #expect(drawing.parts.map(\.name) == ["Domain", "Data"])
        #expect(drawing.arrows.map(\.isBroken) == [false, true])
        let mermaid = GraphText.mermaid(drawing)
        #expect(mermaid.hasPrefix("flowchart TD\n"))
        #expect(mermaid.contains("linkStyle 1 stroke:#c62828"))
        let dot = GraphText.dot(drawing)
        #expect(dot.hasPrefix("digraph layers {"))
        #expect(dot.contains("\"Domain\" -> \"Data\" [label=\"1\", color=\"#c62828\""))
    }

    @Test("The HTML page is a single file that loads nothing and escapes its content")
    func page() throws {
        let page = HTMLReport.page(try sample(), title: "A <b> & c")
        #expect(page.contains("<h1>A &lt;b&gt; &amp; c</h1>"))
        #expect(page.contains("<svg"))
        #expect(page.contains("&lt;are&gt;"))
        for word in ["<script", "src=", "http://", "https://", "@import", "url(http"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("prefers-color-scheme:dark"))
        let document = try XMLShape(page)
        #expect(document.open.isEmpty)
    }

    @Test("SARIF 2.1.0 has everything that the specification requires")
    func sarif() throws {
        let report = try sample()
        let root = try #require(
            try JSONSerialization.jsonObject(with: SARIFReport.data(report)) as? [String: Any]
        )
        #expect(root["version"] as? String == "2.1.0")
        let run = try #require((root["runs"] as? [[String: Any]])?.first)
        let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
        let rules = try #require(driver["rules"] as? [[String: Any]])
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.count == report.findings.count)
        for result in results {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
            #expect(["error", "warning", "note", "none"].contains(result["level"] as? String))
            let locations = try #require(result["locations"] as? [[String: Any]])
            let physical = try #require(locations.first?["physicalLocation"] as? [String: Any])
            let region = try #require(physical["region"] as? [String: Int])
            #expect(region.values.allSatisfy { $0 >= 1 })
            let uri = try #require(
                (physical["artifactLocation"] as? [String: Any])?["uri"] as? String
            )
            #expect(!uri.contains(" "))
        }
    }

    @Test(
        "SARIF counts columns in UTF-16, as it declares, in files of any encoding",
        arguments: [
            ([], .utf8), ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .utf16LittleEndian),
        ] as [([UInt8], String.Encoding)]
    )
    func sarifColumns(_ mark: [UInt8], _ encoding: String.Encoding) throws {
        let project = try TemporaryProject([
            "keel-lint.yml": """
            version: 1
            layers:
              - {name: Domain, paths: [Domain], uses: []}
              - {name: Data, paths: [Data], uses: [Domain]}
            """,
            "Data/B.swift": "struct B {}\n",
        ])
        let code = try #require("/* é 𝄞 */ struct A { let b: B }\n".data(using: encoding))
        try project.write("Domain/A.swift", Data(mark) + code)
        let report = try project.lint()
        #expect(report.findings.map(\.column) == [33])
        let data = try withExtendedLifetime(project) { try SARIFReport.data(report) }
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("\"utf16CodeUnits\""))
        let column = text.firstMatch(of: /"startColumn"\s*:\s*([0-9]+)/)
        #expect(column?.1 == "30")
    }

    @Test(
        "A PyPI model of the SARIF schema reads the report completely",
        .enabled(if: Python.hasSARIF, "NOT RUN: KEEL_PYTHON names no Python with sarif-pydantic")
    )
    func sarifModel() throws {
        let project = try TemporaryProject()
        try project.write("report.sarif", try SARIFReport.data(try sample()))
        let script = """
            import json, sys
            from sarif_pydantic import Sarif
            text = open(sys.argv[1]).read()
            again = json.loads(Sarif.model_validate_json(text).model_dump_json(by_alias=True, exclude_none=True))
            def lost(a, b, path):
                if isinstance(a, dict):
                    for key in a:
                        if key not in (b if isinstance(b, dict) else {}): yield path + "/" + key
                        else: yield from lost(a[key], b[key], path + "/" + key)
                elif isinstance(a, list):
                    if len(a) != len(b): yield path
                    for n, (x, y) in enumerate(zip(a, b)): yield from lost(x, y, path + "/" + str(n))
                elif a != b and str(a) != str(b): yield path
            print("\\n".join(lost(json.loads(text), again, "")))
            """
        let output = try Python.run(script, ["\(project.root)/report.sarif"])
        #expect(output.status == 0, "\(output.text)")
        #expect(
            output.text.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty,
            "\(output.text)"
        )
    }
}

/// Checks that tags close in the reverse order of opening.
private struct XMLShape {
    private(set) var open: [Substring] = []

    init(_ text: String) throws {
        let void: Set<Substring> = ["meta", "!doctype", "!DOCTYPE"]
        for piece in text.split(separator: "<").dropFirst() {
            let name = piece.prefix { !" \n>".contains($0) }
            if name.hasPrefix("/") {
                try #require(open.popLast() == name.dropFirst(), "\(piece.prefix(60))")
            } else if !void.contains(name),
                !(piece.firstIndex(of: ">").map { piece[..<$0].hasSuffix("/") } ?? false)
            {
                open.append(name.split(separator: "/")[0])
            }
        }
    }
}
