package import Foundation
internal import KeelToolSupport

/// A new app: its layers, one feature from the screen to the store, and tests.
package struct NewApp: Sendable {
    /// The kind of user interface.
    package enum Interface: String, Sendable, CaseIterable {
        /// A command line with text output.
        case terminal
        /// Screens for iOS and macOS, with observable models.
        case swiftUI = "swiftui"
    }

    package let name: AppName
    private let interface: Interface
    /// The dependency on Keel in the manifest.
    private let dependency: String
    /// The name of the dependency; for a repository, the end of its URL.
    private let identity: String

    /// Describes an app; `keel` is an absolute path, a path relative to the app's folder, or a repository URL.
    package init(_ name: AppName, _ interface: Interface = .terminal, keel: String) {
        self.name = name
        self.interface = interface
        let quoted = keel.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        if Self.isRepository(keel) {
            dependency = #".package(url: "\#(quoted)", branch: "main")"#
            let end = keel.split(separator: "/").last ?? ""
            identity = (end.hasSuffix(".git") ? end.dropLast(4) : end).lowercased()
        } else {
            dependency = #".package(name: "keel", path: "\#(quoted)")"#
            identity = "keel"
        }
    }

    /// Returns whether a location is that of a repository: a URL, or `USER@HOST:PATH` for SSH.
    package static func isRepository(_ location: String) -> Bool {
        let start = location.prefix { $0 != "/" }
        return location.contains("://") || start.contains("@") && start.contains(":")
    }

    /// The texts of the files, by their paths in the app's folder.
    package var files: [String: String] {
        var files: [String: String] = [:]
        for template in AppTemplate.all(for: interface) {
            files[filled(template.path)] = filled(template.text)
        }
        return files
    }

    private func filled(_ text: String) -> String {
        text.replacing("__App__", with: name.module)
            .replacing("__program__", with: name.program)
            .replacing("__VARIABLE__", with: name.variable)
            .replacing("__keel__", with: dependency)
            .replacing("__package__", with: identity)
    }

    /// Writes the app to a new folder, completely or not at all.
    ///
    /// - Throws: `ToolError` if the folder exists or cannot be written.
    package func write(to folder: URL) throws {
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw ToolError(
                "“\(folder.path)” already exists",
                advice: "Choose another name, or another folder with --in."
            )
        }
        let part = folder.deletingLastPathComponent()
            .appending(path: ".\(folder.lastPathComponent).\(UUID().uuidString)")
        do {
            for (path, text) in files {
                let file = part.appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: file)
            }
            try FileManager.default.moveItem(at: part, to: folder)
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw ToolError(
                "“\(folder.path)” cannot be written: \(ToolError.reason(error))",
                advice: "Give a folder with --in that exists and that you may write to."
            )
        }
    }
}
