import Foundation

/// A folder for the files of one round, which is removed with this value.
final class WorkFolder: Sendable {
    let url: URL

    /// Creates the folder in another one, on the disk to be measured.
    init(_ name: String, in folder: URL) throws {
        url = folder.appending(path: "keel-bench-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Returns the path of a file in the folder.
    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }
}
