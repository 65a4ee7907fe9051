import Foundation
import Testing

/// Checks the pages apart from their examples: tables, and the names of tests and rules.
@Suite("Pages")
struct PageTests {
    private static func lines(_ path: String) throws -> [String] {
        let file = DocumentedFile.root.appending(path: path)
        return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    }

    /// Returns the paths in a folder with an extension.
    private static func paths(_ folder: String, _ ending: String) throws -> [String] {
        let place = DocumentedFile.root.appending(path: folder).path
        return try FileManager.default.subpathsOfDirectory(atPath: place)
            .filter { $0.hasSuffix(ending) && !$0.contains(".build/") }
            .map { "\(folder)/\($0)" }
            .sorted()
    }

    private static let pages: [String] = {
        let own = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
        let others = try? ["Documentation", "Sources", "Examples"].flatMap { try paths($0, ".md") }
        return own + (others ?? [])
    }()

    @Test("Each table row follows its table's heading", arguments: pages)
    func tables(_ page: String) throws {
        let lines = try Self.lines(page)
        var isCode = false
        var before = ""
        for (number, line) in zip(1..., lines) {
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") { isCode.toggle() }
            defer { before = line }
            guard !isCode, line.hasPrefix("|"), !before.hasPrefix("|") else { continue }
            let second = number < lines.count ? lines[number] : ""
            #expect(
                second.hasPrefix("|") && second.allSatisfy { "|-: ".contains($0) },
                "\(page):\(number): rows without a heading: \(line.prefix(40))"
            )
        }
    }

    /// Returns the code spans in the last cell of each row.
    private static func keepers(_ page: String) throws -> [(line: Int, names: [String])] {
        zip(1..., try lines(page)).compactMap { number, line in
            guard line.hasPrefix("| ") else { return nil }
            let cells = line.split(separator: "|").map(String.init)
            let names = (cells.last ?? "").matches(of: /`([^`]+)`/).map { String($0.1) }
            return (number, names)
        }
    }

    @Test(
        "Each suite that a page names exists",
        arguments: ["Documentation/Checklists.md", "Documentation/Coverage.md"]
    )
    func suites(_ page: String) throws {
        let folders = [
            "Tests", "Lint/Tests", "Tools/Tests", "Examples/Restaurants/Tests", "Sources",
        ]
        let files = try folders.flatMap { try Self.paths($0, ".swift") }
        let known = Set(
            files.flatMap { $0.split(separator: "/") }.map { $0.split(separator: ".")[0] }
        )
        var count = 0
        for (number, names) in try Self.keepers(page) {
            for name in names.flatMap({ $0.split(separator: " ") })
            where name.wholeMatch(of: /[A-Z]\w+(Tests|Examples|Check)/) != nil {
                count += 1
                #expect(known.contains(name), "\(page):\(number): there is no \(name)")
            }
        }
        #expect(count > 20)
    }

    @Test("Each linter rule that the checklists name exists")
    func rules() throws {
        let files = try Self.paths("Lint/Sources/KeelLint/Rules", ".swift")
        let text = try files.flatMap { try Self.lines($0) }.joined(separator: "\n")
        let known = Set(text.matches(of: /RuleDescription\(\s*"([a-z-]+)"/).map { String($0.1) })
        let page = "Documentation/Checklists.md"
        var found: Set<String> = []
        for (number, names) in try Self.keepers(page) {
            for name in names where name.wholeMatch(of: /[a-z]+(-[a-z]+)+/) != nil {
                let isOther = name.hasSuffix("-naming") || name == "only-from"
                #expect(isOther || known.contains(name), "\(page):\(number): no rule \(name)")
                found.insert(name)
            }
        }
        #expect(found.count > 10 && known.count > 15)
    }
}
