import Foundation
import KeelLint
import Testing

@Suite("Files that are not as they should be")
struct RobustnessTests {
    private static let configuration = """
        version: 1
        layers:
          - name: Domain
            paths: [Domain]
            uses: []
        """

    private func report(_ name: String, _ data: Data) throws -> LintReport {
        let project = try TemporaryProject([
            "keel-lint.yml": Self.configuration, "Domain/Fine.swift": "import Alamofire\n",
        ])
        try project.write("Domain/\(name)", data)
        return try project.lint()
    }

    @Test(
        "Broken Swift is checked as far as it is understood, and said",
        arguments: [
            "import Alamofire\nstruct {", "import Alamofire\nfunc f( {{{ ]]",
            "import Alamofire\n\"\"\"",
            "import Alamofire\n#if os(", "import Alamofire\n@", "import Alamofire\n/* never closed",
            "import Alamofire\nlet x = \"\\(", "import Alamofire\n}}}}",
        ]
    )
    func broken(_ text: String) throws {
        let report = try report("Broken.swift", Data(text.utf8))
        #expect(report.findings.map(\.file) == ["Domain/Broken.swift", "Domain/Fine.swift"])
        #expect(
            report.remarks.contains {
                $0.file == "Domain/Broken.swift" && $0.text.contains("parser")
            }
        )
    }

    @Test("Text of any kind never crashes the parser")
    func noise() {
        var state: UInt64 = 7
        let words = [
            "import ", "struct A ", "{", "}", "(", ")", "\"", "\\(", "#if ", "#endif", "@", "<",
            ">", "\n", "`", "/*", "*/", "//", "\"\"\"", "é", "try? ", "?? ", ".",
        ]
        for _ in 0..<200 {
            var text = ""
            for _ in 0..<60 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += words[Int(state >> 33) % words.count]
            }
            _ = facts(text)
        }
        for cut in Self.configuration.indices { _ = facts(String(Self.configuration[..<cut])) }
    }

    @Test("Encodings: UTF-8 with a mark, UTF-16, Latin-1, bytes that are no text")
    func encodings() throws {
        let code = "import Alamofire\nlet größe = 1\n"
        let marked = try report("Marked.swift", Data([0xEF, 0xBB, 0xBF]) + Data(code.utf8))
        #expect(marked.findings.count == 2)
        #expect(!marked.remarks.contains { $0.file == "Domain/Marked.swift" })
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
            let mark: [UInt8] = encoding == .utf16LittleEndian ? [0xFF, 0xFE] : [0xFE, 0xFF]
            let wide = try report("Wide.swift", Data(mark) + (code.data(using: encoding) ?? Data()))
            #expect(wide.findings.count == 2)
            #expect(wide.remarks.contains { $0.text.contains("UTF-16") })
        }
        let latin = try report("Latin.swift", code.data(using: .isoLatin1) ?? Data())
        #expect(latin.findings.count == 2)
        #expect(latin.remarks.contains { $0.text.contains("not UTF-8") })
        let binary = try report("Binary.swift", Data("import Alamofire".utf8) + Data([0, 1, 2]))
        #expect(binary.findings.count == 1)
        #expect(binary.remarks.contains { $0.text.contains("no text") })
    }

    @Test("Line ends of three systems give the same lines")
    func lineEnds() {
        for end in ["\n", "\r\n", "\r"] {
            let found = facts(["// a", "import A", "", "import B"].joined(separator: end)).imports
            #expect(
                found.map(\.place) == [
                    SourcePlace(line: 2, column: 8), SourcePlace(line: 4, column: 8),
                ]
            )
        }
    }

    @Test("Empty files, and files without a last line end")
    func empty() {
        #expect(facts("") == SourceFacts())
        #expect(facts("\n\n").imports.isEmpty)
        #expect(facts("import A").imports.map(\.module) == ["A"])
    }

    @Test("A file above the limit is left out, and said")
    func tooLarge() throws {
        let project = try TemporaryProject([
            "keel-lint.yml": Self.configuration + "\nmax-file-megabytes: 1\n",
            "Domain/Huge.swift": "import Alamofire\n"
                + String(repeating: "// a line of a comment that fills the file\n", count: 30_000),
        ])
        let report = try project.lint()
        #expect(report.findings.isEmpty)
        #expect(report.remarks.contains { $0.text.contains("larger than") })
    }

    @Test("Code that nests without end does not end the linter")
    func deep() throws {
        let nested = String(repeating: "{ ", count: 5_000)
        let brackets = "let x = " + String(repeating: "(", count: 20_000)
        let chain = "let y = a" + String(repeating: ".b()", count: 20_000)
        let sum = "let z = 1" + String(repeating: " + 1", count: 20_000)
        let project = try TemporaryProject([
            "keel-lint.yml": Self.configuration,
            "Domain/A.swift": "import Alamofire\nfunc f() \(nested)",
            "Domain/B.swift": brackets, "Domain/C.swift": chain, "Domain/D.swift": sum,
        ])
        #expect(try project.lint().findings.map(\.rule) == ["domain-imports"])
    }

    @Test("Packages within, build folders and hidden folders are left out; links are not followed")
    func leftOut() throws {
        let bad = "import Alamofire"
        let project = try TemporaryProject([
            "keel-lint.yml": Self.configuration,
            "Package.swift": "// the manifest itself: import Alamofire",
            "Domain/A.swift": "struct A {}", ".build/checkouts/Domain/B.swift": bad,
            ".hidden/Domain/C.swift": bad, "Domain/DerivedData/D.swift": bad,
            "Domain/Pods/E.swift": bad,
            "Domain/Nested/Package.swift": "", "Domain/Nested/Sources/F.swift": bad,
            "Domain/Old.docc/G.swift": bad,
        ])
        try FileManager.default.createSymbolicLink(
            atPath: "\(project.root)/Domain/Link",
            withDestinationPath: "\(project.root)/.hidden"
        )
        let report = try project.lint()
        #expect(report.findings.isEmpty)
        #expect(report.fileCount == 1)
        #expect(report.remarks.contains { $0.file == "Domain/Nested" })
    }

    @Test("A project without Swift is a mistake of the caller")
    func noFiles() throws {
        let project = try TemporaryProject(["README.md": ""])
        #expect(throws: ConfigurationError.self) { try project.lint() }
    }
}
