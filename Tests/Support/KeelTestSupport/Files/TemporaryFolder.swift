package import Foundation

extension URL {
    /// Makes a folder for a test, which removes it.
    package static func makeTemporaryFolder() throws -> URL {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "keel-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }
}

/// A folder that is removed with the last reference to this object.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws { path = try URL.makeTemporaryFolder().path }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path)
    }
}
