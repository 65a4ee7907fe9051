import Foundation
import KeelTestKit
import KeelTestSupport

/// A folder for one test, removed with the last reference to this object.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws { url = try URL.makeTemporaryFolder() }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The names of all files in the folder, including hidden ones.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }

    /// Writes a file and returns its URL.
    func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file
    }

    /// Returns bytes with a very long period.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededRandom(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }
}
