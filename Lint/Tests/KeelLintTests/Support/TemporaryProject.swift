import Foundation
import KeelLint

/// A project in a temporary folder that is removed with the test.
final class TemporaryProject: Sendable {
    let root: String

    init(_ files: [String: String] = [:]) throws {
        root =
            FileManager.default.temporaryDirectory
            .appending(path: "keel-lint-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        for (path, text) in files { try write(path, Data(text.utf8)) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func write(_ path: String, _ data: Data) throws {
        let file = URL(fileURLWithPath: "\(root)/\(path)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try data.write(to: file)
    }

    func write(_ path: String, _ text: String) throws { try write(path, Data(text.utf8)) }

    func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    func lint() throws -> LintReport { try Linter(root: root).run() }
}

func facts(_ text: String) -> SourceFacts { facts(Data(text.utf8)) }

func facts(_ data: Data) -> SourceFacts {
    SourceText.read(data) { FactExtractor.facts(of: $0) }
}
