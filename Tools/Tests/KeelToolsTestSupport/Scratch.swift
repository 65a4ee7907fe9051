package import Foundation

/// A folder of a test, which goes with it.
package final class Scratch {
    package let folder = FileManager.default.temporaryDirectory
        .appending(path: "keel-tools-\(UUID().uuidString)")

    package init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    package func file(_ name: String) -> URL { folder.appending(path: name) }

    /// Makes a named pipe.
    package func pipe(_ name: String) throws -> URL {
        let file = file(name)
        guard mkfifo(file.path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return file
    }

    /// Whether there is a named pipe.
    package func isPipe(_ file: URL) -> Bool {
        var status = stat()
        return lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    package func file(_ name: String, holding text: String) throws -> URL {
        let file = file(name)
        try Data(text.utf8).write(to: file)
        return file
    }
}
