package import Foundation

/// The files of a command that must not be one file.
package enum SeparateFiles {
    /// Refuses to write a file over one that the command needs, which need not exist yet.
    ///
    /// - Throws: ``ToolError`` with the advice and the exit code of a wrong command line.
    package static func refuse(_ output: URL, over files: [URL], advice: String) throws {
        guard files.contains(where: { areOne(output, $0) }) else { return }
        throw ToolError(
            "“\(output.path)” is a file that this command needs, and would be overwritten",
            advice: advice,
            exit: .usage
        )
    }

    /// Refuses to write a file into a folder that belongs to an app.
    ///
    /// - Throws: ``ToolError`` with the advice and the exit code of a wrong command line.
    package static func refuse(_ output: URL, in folder: URL, advice: String) throws {
        let place = folder.resolvingSymlinksInPath().path
        guard Self.place(output).hasPrefix(place.hasSuffix("/") ? place : place + "/") else {
            return
        }
        throw ToolError(
            "“\(output.path)” is in the folder “\(folder.path)”, which belongs to the app",
            advice: advice,
            exit: .usage
        )
    }

    /// Returns whether two paths lead to one file, also through links.
    package static func areOne(_ one: URL, _ other: URL) -> Bool {
        if place(one) == place(other) { return true }
        guard let found = number(one) else { return false }
        return found == number(other)
    }

    /// The path of a file that need not exist, in the folder to which the links of its path lead.
    private static func place(_ file: URL) -> String {
        let file = file.standardizedFileURL
        return file.deletingLastPathComponent().resolvingSymlinksInPath()
            .appending(path: file.lastPathComponent).path
    }

    /// The numbers that distinguish a file from all others, whatever its names; nil if there is none.
    private static func number(_ file: URL) -> [UInt64]? {
        var status = stat()
        guard stat(file.path, &status) == 0 else { return nil }
        return [
            UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino),
        ]
    }
}
