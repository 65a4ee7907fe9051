import Foundation
import Testing

/// Checks that the examples of pages and comments are in files that the tests compile.
///
/// White space is ignored, and a line `// …` in an example omits code. A block that begins with
/// `// Package.swift` is part of a manifest. One that begins with `// SwiftUI` is in a file that
/// imports SwiftUI: on Linux, a stand-in.
@Suite("Documentation")
struct DocumentationTests {
    /// An example that no test compiles, and the reason.
    struct Exception: Sendable, CustomTestStringConvertible {
        var page: String
        /// The beginning of the example.
        var start: String
        var reason: String

        var testDescription: String { "\(page): \(start)" }
    }

    /// A complete list: every other example is compiled.
    static let exceptions = [
        Exception(
            page: "Documentation/Lint.md",
            start: "import Alamofire  // keel:allow",
            reason: "It shows comments for the linter beside a module that Keel does not have."
        ),
        Exception(
            page: "Sources/App/KeelRepositories/KeelRepositories.docc/BringYourOwnDatabase.md",
            start: "actor RealmNotes: LocalDataSource {",
            reason: "Realm is no dependency of Keel."
        ),
    ]

    @Test("Every Swift example is code that the tests compile", arguments: DocumentedFile.all)
    func compiles(_ file: DocumentedFile) throws {
        for example in file.examples where !CompiledCode.has(example) {
            if Self.exceptions.contains(where: { $0.fits(example, of: file) }) { continue }
            Issue.record(
                """
                \(file.path):\(example.line): no file of the examples has this \
                example. Write it there too, word for word.
                \(example.code)
                """
            )
        }
    }

    @Test("Every code block in a comment names its language", arguments: DocumentedFile.all)
    func namesLanguages(_ file: DocumentedFile) {
        #expect(file.bareBlocks.isEmpty, "write ```swift, ```text or another in these lines")
    }

    @Test("Every exception names an existing example that is not compiled", arguments: exceptions)
    func isStillAnException(_ exception: Exception) throws {
        let file = try #require(DocumentedFile.all.first { $0.path == exception.page })
        let examples = file.examples.filter { exception.fits($0, of: file) }
        #expect(examples.count == 1, "exactly one example begins so")
        #expect(
            !examples.contains(where: CompiledCode.has),
            "it is compiled: no exception is needed"
        )
        #expect(!exception.reason.isEmpty)
    }

    @Test("Every built row of the coverage page has an example")
    func coversRows() throws {
        let page = DocumentedFile.root.appending(path: "Documentation/Coverage.md")
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        let built = lines.filter { $0.hasPrefix("| ") && $0.contains("| built") }
            .compactMap { Int($0.dropFirst(2).prefix { $0 != " " }) }
        #expect(built.count > 25)
        // The linter is a command, so its rows have no code.
        for row in built where ![11, 33].contains(row) {
            #expect(lines.contains { $0.hasPrefix("**\(row). ") }, "row \(row) has no example")
        }
    }

    @Test("Pages and comments are found, and a line that no test compiles is detected")
    func notices() {
        let paths = Set(DocumentedFile.all.map(\.path))
        for path in [
            "README.md", "CONTRIBUTING.md", "Documentation/Coverage.md",
            "Sources/App/Keel/Keel.docc/Keel.md", "Sources/Cache/KeelCache/Front/Cache.swift",
            "Lint/Sources/KeelLint/Linter.swift",
        ] {
            #expect(paths.contains(path))
        }
        #expect(!CompiledCode.has(DocumentedExample(line: 1, lines: ["let nobody = wrote(this)"])))
        let gap = ["struct DocumentationTests {", "// …", "func neverWritten"]
        #expect(!CompiledCode.has(DocumentedExample(line: 1, lines: gap)))
        let comment = ["/// ```swift", "/// let a = 1", "///     b()", "/// ```", "let c = 2"]
        let found = DocumentedFile(path: "A.swift", lines: comment).examples
        #expect(found.map(\.code) == ["let a = 1\n    b()"] && found.map(\.line) == [1])
        let bare = DocumentedFile(path: "A.swift", lines: ["/// ```", "/// a", "/// ```"])
        #expect(bare.bareBlocks == [1] && bare.examples.isEmpty)
    }
}

extension DocumentationTests.Exception {
    fileprivate func fits(_ example: DocumentedExample, of file: DocumentedFile) -> Bool {
        page == file.path && example.code.hasPrefix(start)
    }
}
