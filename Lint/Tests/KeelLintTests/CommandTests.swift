import Foundation
import KeelLint
import Testing

@Suite(
    "The keel-lint command",
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: LintProgram.path),
        "NOT RUN: keel-lint was not built beside the tests"
    )
)
struct CommandTests {
    private static let clean = [
        "keel-lint.yml":
            "profiles: [clean-architecture]\nlayers:\n  - {name: Domain, paths: [Domain], uses: []}\n",
        "Domain/A.swift": "struct A {}\n",
    ]

    private func lint(_ project: TemporaryProject, _ arguments: String...) throws -> ProgramOutput {
        try LintProgram.run(arguments + ["--no-cache"], in: project.root)
    }

    @Test("The exit code is 0 without findings, 1 with findings, and 2 for invalid input")
    func exitCodes() throws {
        let project = try TemporaryProject(Self.clean)
        #expect(try lint(project).status == 0)
        try project.write("Domain/A.swift", "import Alamofire\n")
        let found = try lint(project)
        #expect(found.status == 1)
        #expect(found.text.contains("Domain/A.swift:1:8: error: [domain-imports]"))
        try project.write("keel-lint.yml", "layer: 1\n")
        let bad = try lint(project)
        #expect(bad.status == 2)
        #expect(bad.errors.contains("keel-lint.yml:1:1: There is no key `layer`"))
        #expect(try lint(project, "--no-such-option").status == 2)
        #expect(try lint(project, "nowhere").status == 2)
    }

    @Test("Warnings fail only a strict run, and a strict run requires a configuration")
    func strict() throws {
        let project = try TemporaryProject([
            "keel-lint.yml":
                "profiles: [services]\nlayers:\n  - {name: Domain, paths: [Domain], uses: []}\n",
            "Domain/A.swift": "protocol NoteRepository { func notes() }\n",
        ])
        #expect(try lint(project).status == 0)
        #expect(try lint(project, "--strict").status == 1)
        try FileManager.default.removeItem(atPath: "\(project.root)/keel-lint.yml")
        #expect(try lint(project).status == 0)
        #expect(try lint(project, "--strict").status == 2)
    }

    @Test("The baseline is written, applied and pruned")
    func baseline() throws {
        let project = try TemporaryProject(Self.clean)
        try project.write("Domain/A.swift", "import Alamofire\nimport Moya\n")
        #expect(try lint(project, "--write-baseline").status == 2)
        try project.write(
            "keel-lint.yml",
            """
            profiles: [clean-architecture]\nbaseline: known.txt\nlayers:\n  - {name: Domain, \
            paths: [Domain], uses: []}\n
            """
        )
        let written = try lint(project, "--write-baseline")
        #expect(written.status == 0)
        #expect(written.text == "known.txt: 2 findings, 0 removed\n")
        #expect(try lint(project, "--strict").status == 0)
        try project.write("Domain/A.swift", "import Moya\n")
        #expect(try lint(project).status == 0)
        #expect(try lint(project, "--strict").status == 1)
        let pruned = try lint(project, "--prune-baseline")
        #expect(pruned.status == 0)
        #expect(pruned.text == "known.txt: 1 findings, 1 removed\n")
        #expect(try lint(project, "--strict").status == 0)
        #expect(try !project.text("known.txt").contains("Alamofire"))
        try project.write("Domain/A.swift", "import Alamofire\n")
        let again = try lint(project, "--write-baseline")
        #expect(again.text == "known.txt: 1 findings, 1 removed\n")
    }

    @Test("One run can write several reports")
    func reports() throws {
        let project = try TemporaryProject(Self.clean)
        let output = try lint(
            project,
            "--output",
            "lint.sarif",
            "--format",
            "sarif",
            "--also",
            "html=lint.html",
            "--also",
            "dot=lint.dot"
        )
        #expect(output.status == 0)
        #expect(output.text == "keel-lint: 1 file; nothing found\n")
        #expect(try project.text("lint.sarif").contains("\"2.1.0\""))
        #expect(try project.text("lint.html").hasPrefix("<!doctype html>"))
        #expect(try project.text("lint.dot").hasPrefix("digraph"))
    }

    @Test("A report that cannot be written exits with 2, and replaces nothing that was read")
    func outputs() throws {
        let project = try TemporaryProject(Self.clean)
        try #require(mkfifo("\(project.root)/pipe", 0o600) == 0)
        for file in ["nowhere/report", "pipe", ".", "keel-lint.yml", "Domain/A.swift"] {
            let output = try lint(project, "--output", file)
            #expect(output.status == 2, "\(file)")
            #expect(output.errors.hasPrefix("error: "), "\(file): \(output.errors)")
        }
        #expect(try lint(project, "-o", "report", "--also", "json=./report").status == 2)
        let cache = try LintProgram.run(["--cache", "Domain/A.swift"], in: project.root)
        #expect(cache.status == 2)
        #expect(try project.text("Domain/A.swift") == "struct A {}\n")
        let names = try FileManager.default.contentsOfDirectory(atPath: project.root).sorted()
        #expect(names == ["Domain", "keel-lint.yml", "pipe"])
        #expect(try lint(project).status == 0)
        let script = #""$0" --no-cache >&-"#
        let closed = try run("/bin/sh", ["-c", script, LintProgram.path], in: project.root)
        #expect(closed.status == 2)
        #expect(closed.errors.hasPrefix("error: Standard output"), "\(closed.errors)")
    }

    @Test("init writes the configuration that --config names")
    func namedConfiguration() throws {
        let project = try TemporaryProject([
            "Notes/Domain/A.swift": "struct A {}", "Notes/Data/B.swift": "struct B {}",
        ])
        let arguments = ["init", "--config", "other.yml", "--no-cache"]
        let first = try LintProgram.run(arguments, in: project.root)
        #expect(first.status == 0)
        #expect(first.text.hasPrefix("Wrote other.yml: "))
        #expect(try lint(project, "--strict", "--config", "other.yml").status == 0)
        #expect(try lint(project, "--strict").status == 2)
        let second = try LintProgram.run(arguments, in: project.root)
        #expect(second.status == 2)
        #expect(second.errors.contains("other.yml already exists."))
    }

    @Test("init writes a configuration once, explain explains a rule, and rules lists them")
    func others() throws {
        let project = try TemporaryProject([
            "Notes/Domain/A.swift": "struct A {}", "Notes/Data/B.swift": "struct B {}",
        ])
        #expect(try LintProgram.run(["init", "--no-cache"], in: project.root).status == 0)
        #expect(try lint(project, "--strict").status == 0)
        #expect(try LintProgram.run(["init", "--no-cache"], in: project.root).status == 2)
        #expect(
            try LintProgram.run(["init", "--force", "--no-cache"], in: project.root).status == 0
        )
        let explained = try lint(project, "--explain", "swallowed-mapping")
        #expect(explained.status == 0)
        #expect(explained.text.contains("UUID(uuidString: id) ?? UUID()"))
        #expect(try lint(project, "--explain", "nothing").status == 2)
        let rules = try lint(project, "--rules").text
        #expect(rules.contains("profile services: "))
        for rule in BuiltInRules.all { #expect(rules.contains("  \(rule.id) "), "\(rule.id)") }
    }
}
