#if Crypto
internal import Crypto
internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

struct S3Part: Codable, Hashable, Sendable {
    let number: Int
    let byteCount: Int
    /// The server's entity tag of the part.
    let tag: String
    /// The SHA-256 of the bytes, if it may be needed again.
    var hash: String?
    /// The checksum that the part was sent with, as encoded in the request.
    var checksum: String?
}

/// The record of an upload on disk: the upload, and the parts that the server has taken.
///
/// The file has a line of JSON for the upload, and one for each part that has arrived. An unfinished line is ignored,
/// and its part is sent again. A lock prevents two processes from resuming the same upload.
final class UploadManifest: Sendable {
    /// The first line.
    struct Head: Codable, Hashable, Sendable {
        var format = 1
        let place: String
        let key: String
        let uploadID: String
        let partByteCount: Int
        /// The fields that the upload began with: a file with other fields is another upload.
        let fields: String
        let checksum: String?
    }

    private let path: String
    private let files: any FileSystem
    private let lock: any FileLock
    private let file: any OpenFile
    private let end: Mutex<Int>
    let head: Head
    /// The parts that were recorded when the file was opened.
    let parts: [Int: S3Part]

    private init(
        _ path: String,
        _ files: any FileSystem,
        _ lock: any FileLock,
        _ file: any OpenFile,
        _ head: Head,
        _ parts: [Int: S3Part],
        end: Int
    ) {
        self.path = path
        self.files = files
        self.lock = lock
        self.file = file
        self.head = head
        self.parts = parts
        self.end = Mutex(end)
    }

    static func path(in folder: String, place: String, key: String) -> String {
        let hash = SHA256.hash(data: Array("\(place)\n\(key)".utf8))
        return folder + "/" + Hexadecimal.text(of: hash.prefix(16)) + ".upload"
    }

    /// Opens the record for a key, or returns nil if there is none or another process uses it.
    static func open(_ path: String) throws(FileSystemError) -> UploadManifest? {
        let files = DiskFileSystem()
        guard try files.size(of: path) != nil else { return nil }
        guard let (lock, file) = try locked(path, files) else { return nil }
        let bytes = try file.read(at: 0, count: try file.size())
        let decoder = JSONDecoder()
        var head: Head?
        var parts: [Int: S3Part] = [:]
        var end = 0
        while let newline = bytes[end...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = Data(bytes[end..<newline])
            if head == nil {
                guard let read = try? decoder.decode(Head.self, from: line), read.format == 1 else {
                    break
                }
                head = read
            } else {
                guard let part = try? decoder.decode(S3Part.self, from: line) else { break }
                parts[part.number] = part
            }
            end = newline + 1
        }
        guard let head else {
            try files.remove(path)
            return nil
        }
        try file.truncate(to: end)
        return UploadManifest(path, files, lock, file, head, parts, end: end)
    }

    /// Creates a record, or returns nil if another process uses one for the same key.
    static func begin(
        _ path: String,
        _ head: Head,
        in files: any FileSystem = DiskFileSystem()
    ) throws(FileSystemError) -> UploadManifest? {
        guard let (lock, file) = try locked(path, files) else { return nil }
        return try begin(path, head, files, lock, file)
    }

    /// Restarts the record in the same file, keeping the lock.
    func restarted(_ head: Head) throws(FileSystemError) -> UploadManifest {
        try Self.begin(path, head, files, lock, file)
    }

    private static func begin(
        _ path: String,
        _ head: Head,
        _ files: any FileSystem,
        _ lock: any FileLock,
        _ file: any OpenFile
    ) throws(FileSystemError) -> UploadManifest {
        try file.truncate(to: 0)
        let line = Self.line(head)
        try file.write(line, at: 0)
        // Without this, the upload would be forgotten after a power failure.
        try file.sync()
        return UploadManifest(path, files, lock, file, head, [:], end: line.count)
    }

    private static func locked(
        _ path: String,
        _ files: any FileSystem
    ) throws(FileSystemError) -> (any FileLock, any OpenFile)? {
        do throws(FileSystemError) {
            let lock = try files.lock(path)
            let file = try files.open(path, for: .writing)
            // The lock decides: its file may have been removed, and created again, before it was locked.
            return lock.isStill(at: path) ? (lock, file) : nil
        } catch {
            // Another process uses the file, or has just removed it.
            guard error.kind == .busy || error.kind == .notFound else { throw error }
            return nil
        }
    }

    /// Records a part that has arrived; one that cannot be recorded is sent again if the upload is resumed.
    func add(_ part: S3Part) {
        let line = Self.line(part)
        end.withLock { end in
            guard (try? file.write(line, at: end)) != nil else { return }
            end += line.count
        }
    }

    func remove() { try? files.remove(path) }

    private static func line(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array((try? encoder.encode(value)) ?? Data()) + [UInt8(ascii: "\n")]
    }
}
#endif
