package import Foundation
internal import KeelToolSupport

/// An app to be made: its layers, one feature from the screen to the store, and their tests.
package struct NewApp: Sendable {
    /// What people see of an app.
    package enum Interface: String, Sendable, CaseIterable {
        /// Commands and lines of text.
        case terminal
        /// Screens for iOS and macOS, on observable models.
        case swiftUI = "swiftui"
    }

    /// What it is called.
    package let name: AppName
    /// What people see of it.
    private let interface: Interface
    /// Where Keel is, as the manifest says it.
    private let dependency: String

    /// Plans an app.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - interface: What people see of it.
    ///   - keel: Where Keel is: a folder, as seen from the app's, or the URL of a repository.
    package init(_ name: AppName, _ interface: Interface = .terminal, keel: String) {
        self.name = name
        self.interface = interface
        let quoted = keel.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        dependency =
            keel.contains("://")
            ? #".package(url: "\#(quoted)", branch: "main")"#
            : #".package(name: "keel", path: "\#(quoted)")"#
    }

    /// The files by their paths in the app's folder.
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
    }

    /// Writes the app to a folder that is not there yet; it appears whole or not at all.
    ///
    /// - Parameter folder: The app's folder.
    /// - Throws: `ToolError` where it is there already or cannot be written.
    package func write(to folder: URL) throws {
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw ToolError(
                "“\(folder.path)” is there already",
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
                "“\(folder.path)” cannot be written: \(error.localizedDescription)",
                advice: "Name a folder with --in that exists and that you may write to."
            )
        }
    }
}
