package import Foundation

/// Checks that keep a command from overwriting its own files.
package enum SeparateFiles {
    /// Refuses an output that is one of the files that the command needs; none of them has to exist.
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

    /// Refuses an output in a folder that belongs to an app.
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

    /// Returns whether two paths lead to the same file, also through links.
    package static func areOne(_ one: URL, _ other: URL) -> Bool {
        if place(one) == place(other) { return true }
        guard let found = number(one) else { return false }
        return found == number(other)
    }

    /// The path of a file, which need not exist, without links in its folder.
    private static func place(_ file: URL) -> String {
        let file = file.standardizedFileURL
        return file.deletingLastPathComponent().resolvingSymlinksInPath()
            .appending(path: file.lastPathComponent).path
    }

    /// The numbers of a file's device and inode; nil if there is no file.
    private static func number(_ file: URL) -> [UInt64]? {
        var status = stat()
        guard stat(file.path, &status) == 0 else { return nil }
        return [
            UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino),
        ]
    }
}
