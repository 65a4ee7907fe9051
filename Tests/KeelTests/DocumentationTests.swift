import Foundation
import Testing

/// The examples of the documentation stand in files that the tests compile; this holds the pages
/// to them.
@Suite("Documentation")
struct DocumentationTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let compiled: [String] = {
        let folder = root.appending(path: "Tests/KeelTests/Examples")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.compactMap { name in
            (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)).map(normalized)
        }
    }()

    @Test(
        "Every Swift example is code that the tests compile",
        arguments: [
            "README.md", "Documentation/Coverage.md",
        ]
    )
    func compiles(_ page: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
            // The lines of a manifest are no code of a target.
            .filter { !$0.hasPrefix("// Package.swift") }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let wanted = Self.normalized(block)
            let isCompiled = Self.compiled.contains { $0.contains(wanted) }
            #expect(isCompiled, "not compiled by Tests/KeelTests/Examples:\n\(block)")
        }
    }

    /// Lines without their indentation, and without empty ones.
    private static func normalized(_ code: String) -> String {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
