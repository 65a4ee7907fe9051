import Foundation
import KeelLint
import Testing

@Suite("Baseline, allows, and the cache")
struct HygieneTests {
    private static let configuration = """
        version: 1
        profiles: [clean-architecture]
        baseline: known.txt
        layers:
          - name: Domain
            paths: [Domain]
            uses: []
        """

    private func project(_ code: String, _ baseline: String) throws -> TemporaryProject {
        try TemporaryProject([
            "keel-lint.yml": Self.configuration, "known.txt": baseline, "Domain/A.swift": code,
        ])
    }

    @Test("A baselined finding is not reported, even when its line moves")
    func known() throws {
        let project = try project(
            "import Alamofire\n",
            "domain-imports\tDomain/A.swift\timport Alamofire\n"
        )
        #expect(try project.lint().findings.isEmpty)
        try project.write("Domain/A.swift", "// one\n// two\nimport Foundation\nimport Alamofire\n")
        let moved = try project.lint()
        #expect(moved.findings.isEmpty)
        #expect(moved.baselined.map(\.line) == [4])
        try project.write("Domain/A.swift", "import Alamofire\nimport Moya\n")
        #expect(try project.lint().findings.map(\.symbol) == ["import Moya"])
    }

    @Test(
        "An allow above attributes applies to their declaration, and to nothing below it",
        arguments: [
            "@preconcurrency\nimport Alamofire",
            "@preconcurrency  // as it is old\n\n@_spi(Private)\nimport Alamofire",
            "@preconcurrency import Alamofire",
        ]
    )
    func allowsBelowAttributes(code: String) throws {
        let comment = "// keel:allow(domain-imports) the reason\n"
        let report = try project("\(comment)\(code)\nimport Moya\n", "").lint()
        #expect(report.findings.map(\.symbol) == ["import Moya"])
    }

    @Test(
        "An allow above a comment in several lines applies to the code below it",
        arguments: [
            "/* import Foundation */\nimport Alamofire",
            "/**\n import Foundation\n */\nimport Alamofire",
            "/* a\n * b */ /* c */\n// d\n/* e */ import Alamofire",
        ]
    )
    func allowsBelowBlocks(code: String) throws {
        let comment = "// keel:allow(domain-imports) the reason\n"
        let report = try project("\(comment)\(code)\nimport Moya\n", "").lint()
        #expect(report.findings.map(\.symbol) == ["import Moya"])
    }

    @Test("A stale baseline line fails only a strict run")
    func stale() throws {
        let report = try project("struct A {}", "# comment\n\nnaming\tGone.swift\tGone\n").lint()
        #expect(report.findings.map(\.rule) == ["stale-baseline"])
        #expect(report.findings.map(\.line) == [3])
        #expect(report.fails(strict: true))
        #expect(!report.fails(strict: false))
        #expect(report.staleKeys.map(\.file) == ["Gone.swift"])
    }

    @Test("A stale baseline line is not reported if `stale-baseline` is off, and can be pruned")
    func staleOff() throws {
        let project = try project("struct A {}", "naming\tGone.swift\tGone\n")
        try project.write("keel-lint.yml", Self.configuration + "\nrules: {stale-baseline: off}\n")
        let report = try project.lint()
        #expect(report.findings.isEmpty)
        #expect(report.staleKeys.map(\.file) == ["Gone.swift"])
    }

    @Test("A baseline is sorted by finding, has no line numbers, and survives the round trip")
    func form() throws {
        let project = try project("import Moya\nimport Alamofire\nlet a = UUID()\n", "")
        var linter = Linter(root: project.root)
        linter.usesBaseline = false
        let baseline = Baseline(try linter.run().findings)
        let lines = baseline.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                "ambient-effects\tDomain/A.swift\ta",
                "domain-imports\tDomain/A.swift\timport Alamofire",
                "domain-imports\tDomain/A.swift\timport Moya",
            ]
        )
        #expect(try Baseline(reading: baseline.text, file: "x") == baseline)
        // As git checks it out on Windows.
        let text = baseline.text.replacing("\n", with: "\r\n")
        #expect(try Baseline(reading: text, file: "x") == baseline)
        #expect(throws: ConfigurationError.self) {
            try Baseline(reading: "no tabs here", file: "x")
        }
    }

    @Test("A baseline can be read again if the name of a file has tabs or line breaks")
    func oddNames() throws {
        let finding = Finding(
            rule: "naming",
            file: "Domain/A\tB\n.swift",
            line: 1,
            column: 1,
            symbol: "A",
            message: "",
            help: ""
        )
        let text = Baseline([finding]).text
        #expect(try Baseline(reading: text, file: "x").keys == [finding.key])
    }

    @Test("Maintenance rules can be disabled, and severities set")
    func severities() throws {
        let project = try TemporaryProject([
            "keel-lint.yml":
                """
            version: 1\nlayers:\n  - {name: Domain, paths: [Domain], uses: []}\nrules: \
            {stale-allow: off, domain-imports: warning}
            """,
            "Domain/A.swift": "// keel:allow(naming) nothing here\nimport Alamofire",
        ])
        let report = try project.lint()
        #expect(report.findings.map(\.severity) == [.warning])
        #expect(!report.fails(strict: false))
        #expect(report.fails(strict: true))
    }

    @Test("A layer without a file says whether its files are in a layer before it")
    func emptyLayers() throws {
        let project = try TemporaryProject([
            "keel-lint.yml": """
            layers:
              - {name: App, paths: [App], uses: any}
              - {name: Domain, paths: [App/Domain], uses: []}
              - {name: Checks, paths: [Tests], uses: []}
            """,
            "App/Domain/A.swift": "struct A {}", "Tests/B.swift": "struct B {}",
        ])
        let messages = try project.lint().findings.map(\.message)
        #expect(messages.count == 2)
        #expect(messages.first?.hasSuffix("matches only files of layers before it.") == true)
        #expect(messages.last?.hasSuffix("matches nothing.") == true)
    }

    @Test("A warm run has the same findings as a cold run and reads no file again")
    func cache() throws {
        let item = try #require(Corpus.all.first { $0.expected.count > 5 })
        let project = try TemporaryProject(item.files)
        var linter = Linter(root: project.root)
        linter.cacheFile = URL(fileURLWithPath: "\(project.root)/.cache/facts")
        let cold = try linter.run()
        let warm = try linter.run()
        #expect(cold.cachedFileCount == 0)
        #expect(warm.cachedFileCount == warm.fileCount)
        #expect(warm.findings == cold.findings)
        let file = try #require(
            item.files.keys.first { $0.hasSuffix(".swift") && $0 != "Package.swift" }
        )
        try project.write(file, "import Changed\n")
        let changed = try linter.run()
        #expect(changed.cachedFileCount == changed.fileCount - 1)
    }

    @Test("Another size limit applies to files of earlier runs, too")
    func cachedLimit() throws {
        let comment = "// a line of a comment that fills the file\n"
        let project = try project(
            "import Alamofire\n" + String(repeating: comment, count: 30_000),
            ""
        )
        var linter = Linter(root: project.root)
        linter.cacheFile = URL(fileURLWithPath: "\(project.root)/.cache/facts")
        #expect(try linter.run().findings.map(\.symbol) == ["import Alamofire"])
        try project.write("keel-lint.yml", Self.configuration + "\nmax-file-megabytes: 1\n")
        let limited = try linter.run()
        #expect(limited.findings.isEmpty)
        #expect(limited.notes.contains { $0.text.contains("larger than") })
        try project.write("keel-lint.yml", Self.configuration)
        #expect(try linter.run().findings.map(\.symbol) == ["import Alamofire"])
    }

    @Test("A damaged or outdated cache is treated as empty")
    func damagedCache() throws {
        let project = try TemporaryProject([
            "keel-lint.yml":
                "profiles: [clean-architecture]\nlayers:\n  - {name: Domain, paths: [Domain], uses: []}",
            "Domain/A.swift": "import Alamofire", "Domain/B.swift": "import Moya",
        ])
        var linter = Linter(root: project.root)
        let file = URL(fileURLWithPath: "\(project.root)/.cache/facts")
        linter.cacheFile = file
        let expected = try linter.run().findings
        let whole = try Data(contentsOf: file)
        for position in whole.indices {
            var damaged = whole
            damaged[position] ^= 0x55
            try damaged.write(to: file)
            // Texts within facts may change unnoticed; after other corruption the files are read.
            _ = try linter.run()
        }
        for count in [0, 3, 15, 16, 40, whole.count - 1] {
            try whole.prefix(count).write(to: file)
            let report = try linter.run()
            #expect(report.findings == expected)
            #expect(report.cachedFileCount == 0)
        }
        // The index of two entries, with zeros in place of their facts.
        try (whole.prefix(64) + Data(count: whole.count - 64)).write(to: file)
        #expect(try linter.run().cachedFileCount == 0)
        let repaired = try linter.run()
        #expect(repaired.cachedFileCount == 2)
        #expect(repaired.findings == expected)
    }

    @Test("Every rule is explained with a bad and a good example, and finds the bad one")
    func explanations() {
        for rule in BuiltInRules.all {
            for part in [
                rule.summary, rule.reason, rule.violation, rule.correction, rule.help, rule.limits,
            ] {
                #expect(!part.isEmpty, "\(rule.id)")
            }
            #expect(rule.explanation.contains(rule.violation.split(separator: "\n")[0]))
            #expect(rule.summary.hasSuffix("."))
        }
        #expect(Set(BuiltInRules.all.map(\.id)).count == BuiltInRules.all.count)
    }

    @Test("The explanation of `vendor-modules` leaves the domain to `domain-imports`")
    func explainedRoles() throws {
        let rule = try #require(BuiltInRules.named("vendor-modules"))
        #expect(rule.explanation.contains("the role data, presentation, shared."))
    }

    @Test("A rule's explanation refers to no document that the reader lacks")
    func reasons() {
        for rule in BuiltInRules.all {
            let text = [rule.summary, rule.reason, rule.help, rule.limits].joined(separator: " ")
            #expect(!text.lowercased().contains("document"), "\(rule.id)")
            #expect(!text.lowercased().contains("checklist"), "\(rule.id)")
            #expect(rule.reason.hasSuffix("."), "\(rule.id)")
        }
    }

    @Test("Only layers, cycles, custom names and maintenance rules are on by default")
    func standard() throws {
        #expect(
            Set(BuiltInRules.all.filter(\.isOnByDefault).map(\.id)) == [
                "layers", "cycles", "naming", "allow-reason", "stale-allow", "stale-baseline",
                "matches-nothing",
            ]
        )
        let item = try #require(Corpus.all.first { $0.name == "effects in the domain" })
        var files = item.files
        let text = try #require(files["keel-lint.yml"])
        files["keel-lint.yml"] = text.split(separator: "\n").filter { !$0.hasPrefix("profiles") }
            .joined(separator: "\n")
        #expect(try TemporaryProject(files).lint().findings.isEmpty)
    }
}
