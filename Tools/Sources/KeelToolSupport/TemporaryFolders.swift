package import Foundation
internal import Synchronization

/// The temporary folders of this process.
package enum TemporaryFolders {
    private static let paths = Mutex<Set<String>>([])

    /// Creates a folder that only its owner may read; the caller removes it.
    ///
    /// From then on, the process ignores SIGPIPE. ``StandardOutput`` removes the folder before a broken pipe ends the
    /// process.
    package static func make() throws -> URL {
        // Writing to a broken pipe then fails, and StandardOutput ends the process.
        signal(SIGPIPE, SIG_IGN)
        let folder = URL.temporaryDirectory.appending(path: "keel-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        paths.withLock { _ = $0.insert(folder.path) }
        return folder
    }

    package static func remove(_ folder: URL) {
        try? FileManager.default.removeItem(at: folder)
        paths.withLock { _ = $0.remove(folder.path) }
    }

    static func removeAll() {
        for path in paths.withLock({ $0 }) { remove(URL(filePath: path)) }
    }
}
