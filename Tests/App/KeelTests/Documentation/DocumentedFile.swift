import Foundation
import Testing

/// A page, or a source file with comments, that contains code blocks.
struct DocumentedFile: Sendable, CustomTestStringConvertible {
    var path: String
    /// Its Swift examples except for manifests.
    var examples: [DocumentedExample] = []
    /// The lines of blocks without a language.
    var bareBlocks: [Int] = []

    var testDescription: String { path }

    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// All files that contain a block, except decision records and protocol descriptions.
    static let all: [DocumentedFile] = {
        let pages = ["", "Documentation"].flatMap { folder in
            names(in: folder, deeply: false).filter { $0.hasSuffix(".md") }
        }
        let sources = ["Sources", "Lint/Sources", "Tools/Sources", "Examples"].flatMap { folder in
            names(in: folder, deeply: true)
                .filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }
                .filter { !$0.contains("/.build") }
        }
        return (pages + sources).sorted().compactMap { path in
            guard
                let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8),
                text.contains("```")
            else { return nil }
            let file = DocumentedFile(path: path, lines: text.components(separatedBy: "\n"))
            return file.examples.isEmpty && file.bareBlocks.isEmpty ? nil : file
        }
    }()

    init(path: String, lines: [String]) {
        self.path = path
        let isSource = path.hasSuffix(".swift")
        var open: (line: Int, isSwift: Bool, lines: [String])?
        for (number, line) in zip(1..., lines) {
            guard let text = isSource ? Self.comment(line) : line else {
                open = nil
                continue
            }
            let mark = text.trimmingCharacters(in: .whitespaces)
            guard mark.hasPrefix("```") else {
                open?.lines.append(text)
                continue
            }
            if let block = open {
                let example = DocumentedExample(line: block.line, lines: block.lines)
                if block.isSwift, !example.isManifest { examples.append(example) }
                open = nil
            } else {
                if mark == "```", isSource { bareBlocks.append(number) }
                open = (number, mark == "```swift", [])
            }
        }
    }

    /// Returns the text of a line in a doc comment; nil for any other line.
    private static func comment(_ line: String) -> String? {
        let line = line.drop { $0 == " " }
        guard line.hasPrefix("///") else { return nil }
        let text = line.dropFirst(3)
        return String(text.first == " " ? text.dropFirst() : text)
    }

    private static func names(in folder: String, deeply: Bool) -> [String] {
        let place = root.appending(path: folder).path
        let files = FileManager.default
        let names =
            deeply
            ? try? files.subpathsOfDirectory(atPath: place)
            : try? files.contentsOfDirectory(atPath: place)
        return (names ?? []).map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    }
}

/// An example in a page or a comment.
struct DocumentedExample: Sendable {
    /// The line at which its block begins.
    var line: Int
    var code: String
    /// The consecutive parts, without white space.
    var parts: [String]
    /// Whether its file imports SwiftUI.
    var isView: Bool

    init(line: Int, lines: [String]) {
        self.line = line
        code = lines.joined(separator: "\n")
        isView = lines.first == "// SwiftUI"
        parts = lines.dropFirst(isView ? 1 : 0)
            .split { $0.trimmingCharacters(in: .whitespaces) == "// …" }
            .map { CompiledCode.condensed($0.joined(separator: "\n")) }
            .filter { !$0.isEmpty }
    }

    var isManifest: Bool { code.hasPrefix("// Package.swift") }
}

/// The code that the tests compile.
enum CompiledCode {
    private struct File {
        var code: String
        var isView: Bool
    }

    static func has(_ example: DocumentedExample) -> Bool {
        files.contains { file in
            guard file.isView == example.isView else { return false }
            var rest = file.code[...]
            for part in example.parts {
                guard let found = rest.range(of: part) else { return false }
                rest = rest[found.upperBound...]
            }
            return true
        }
    }

    private static let files: [File] = {
        let tests = DocumentedFile.root.appending(path: "Tests")
        // The packages for stand-ins of Apple's modules, and test files that serve as examples.
        let folders = [
            "App/KeelTests/Examples", "Apple/Tests", "SwiftUI/Tests",
        ].flatMap { folder in
            let place = tests.appending(path: folder).path
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: place)) ?? []
            return names.map { "\(folder)/\($0)" }
        }
        let others = [
            "Telemetry/KeelAnalyticsTests/Support/LineDestination.swift",
            "Cache/KeelCacheTests/LegacyCacheTier.swift",
            "App/KeelDependenciesTests/CommentExamples.swift",
            "Storage/KeelStoragePostgreSQLTests/PostgreSQLExamples.swift",
            "Testing/KeelTemplateTests/LegacyStorageAdapterTemplate.swift",
            "Testing/KeelTemplateTests/LegacyStorageAdapterTests.swift",
            "Testing/KeelTemplateTests/ReadOnlyStorageAdapterTemplate.swift",
            // The linter is a separate package.
            "../Lint/Tests/KeelLintTests/ExampleTests.swift",
        ]
        return (folders + others).filter { $0.hasSuffix(".swift") }.compactMap { name in
            (try? String(contentsOf: tests.appending(path: name), encoding: .utf8)).map { text in
                File(code: condensed(text), isView: text.contains("#if canImport(SwiftUI)"))
            }
        }
    }()

    /// Returns code without white space, and without the commas that the formatter adds to lists.
    static func condensed(_ code: String) -> String {
        var text: [UInt8] = []
        let closing = [UInt8(ascii: "]"), UInt8(ascii: ")")]
        for byte in code.utf8 where byte > 0x20 {
            if closing.contains(byte), text.last == UInt8(ascii: ",") { text.removeLast() }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
