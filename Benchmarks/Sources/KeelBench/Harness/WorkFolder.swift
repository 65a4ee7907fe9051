import Foundation

/// A folder for the files of one round, which goes with this value.
final class WorkFolder: Sendable {
    let url: URL

    /// Makes the folder in another, on the disk that the measures are about.
    init(_ name: String, in folder: URL) throws {
        url = folder.appending(path: "keel-bench-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }
}
