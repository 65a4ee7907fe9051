import Foundation
import Testing

/// The examples of the documentation stand in files that the tests compile; this holds the pages
/// to them.
///
/// A block that begins with `// Package.swift` is of a manifest and no code of a target. One that
/// begins with `// SwiftUI` stands in a file that only Apple's systems compile.
@Suite("Documentation")
struct DocumentationTests {
    /// Pages with examples that the tests cannot compile.
    ///
    /// One that would pass must leave the list: a test says so.
    static let notHeld = [
        // Its bad examples are not to compile.
        "Documentation/Lint.md",
        // Core Data and SwiftData are Apple's, Realm is no dependency of Keel.
        "Sources/KeelRepositories/KeelRepositories.docc/BringYourOwnDatabase.md",
    ]

    @Test("Every Swift example is code that the tests compile", arguments: held)
    func compiles(_ page: String) throws {
        for example in try Self.examples(of: page) where !Self.isCompiled(example) {
            Issue.record("not compiled by Tests/KeelTests/Examples:\n\(example.code)")
        }
    }

    @Test("A page on the list of those that are not held would fail", arguments: notHeld)
    func isStillNotHeld(_ page: String) throws {
        #expect(Self.pages.contains(page), "there is no such page, or it has no Swift example")
        let isHeld = try Self.examples(of: page).allSatisfy(Self.isCompiled)
        #expect(!isHeld, "all of its examples are compiled: take it off the list")
    }

    @Test("Every row of the coverage that is built has an example")
    func coversRows() throws {
        let page = Self.root.appending(path: "Documentation/Coverage.md")
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        let built = lines.filter { $0.hasPrefix("| ") && $0.contains("| built") }
            .compactMap { Int($0.dropFirst(2).prefix { $0 != " " }) }
        #expect(built.count > 25)
        // Those of the linter, a command, have no code to show.
        for row in built where ![11, 33].contains(row) {
            #expect(lines.contains { $0.hasPrefix("**\(row). ") }, "row \(row) has no example")
        }
    }

    @Test("The pages are found, and a line that no test compiles is noticed")
    func notices() {
        for page in ["README.md", "Documentation/Coverage.md", "Sources/Keel/Keel.docc/Keel.md"] {
            #expect(Self.held.contains(page))
        }
        #expect(!Self.isCompiled(Example(code: "let nobody = wrote(this)", isView: false)))
    }

    // MARK: Pages

    /// Pages with examples, without records of decisions and descriptions of protocols.
    private static let pages: [String] = {
        let files = FileManager.default
        let folders = ["", "Documentation"].map { folder in
            ((try? files.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? [])
                .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        }
        let catalogues = ["Sources", "Examples"].map { folder in
            ((try? files.subpathsOfDirectory(atPath: root.appending(path: folder).path)) ?? [])
                .map { "\(folder)/\($0)" }
        }
        return (folders + catalogues).flatMap { $0 }
            .filter { $0.hasSuffix(".md") && !$0.contains("/.build") }
            .filter { ((try? examples(of: $0)) ?? []).isEmpty == false }
            .sorted()
    }()

    private static let held = pages.filter { !notHeld.contains($0) }

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    // MARK: Examples

    private struct Example {
        var code: String
        /// Whether it stands where only Apple's systems compile.
        var isView: Bool
    }

    private static func examples(of page: String) throws -> [Example] {
        let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
        var examples: [Example] = []
        var code: String?
        for line in text.components(separatedBy: "\n") {
            switch (line.trimmingCharacters(in: .whitespaces), code) {
            case ("```swift", nil): code = ""
            case ("```", let finished?):
                code = nil
                guard !finished.hasPrefix("// Package.swift") else { continue }
                let isView = finished.hasPrefix("// SwiftUI\n")
                let body = isView ? finished.dropFirst("// SwiftUI\n".count) : finished[...]
                examples.append(Example(code: normalized(String(body)), isView: isView))
            case (_, let unfinished?): code = unfinished + line + "\n"
            default: break
            }
        }
        return examples
    }

    private static func isCompiled(_ example: Example) -> Bool {
        compiled.contains { file in
            file.isView == example.isView && file.code.contains(example.code)
        }
    }

    private static let compiled: [Example] = {
        let folder = root.appending(path: "Tests/KeelTests/Examples")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let files =
            names.map { folder.appending(path: $0) }
            + [
                "KeelAnalyticsTests/Support/LineDestination.swift",
                "KeelCacheTests/LegacyCacheTier.swift",
            ].map { root.appending(path: "Tests/\($0)") }
        return files.compactMap { file in
            (try? String(contentsOf: file, encoding: .utf8)).map { text in
                Example(code: normalized(text), isView: text.contains("#if canImport(SwiftUI)"))
            }
        }
    }()

    /// Lines without their indentation, and without empty ones.
    private static func normalized(_ code: String) -> String {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
