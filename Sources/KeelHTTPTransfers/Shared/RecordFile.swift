import KeelCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a transfer notes in a file: a checksum stands before it, so that half a file is none.
///
/// Eight bytes name the kind and its version; then come the length and the CRC-32C of the JSON text
/// that follows, as little-endian numbers of four bytes.
enum RecordFile {
    static let headLength = 16

    /// The bytes of a record.
    static func bytes<Record: Encodable>(of record: Record, kind: String) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Records are made of numbers and texts, which always have a JSON form.
        let text = (try? encoder.encode(record)).map(Array.init) ?? []
        var bytes = Array(kind.utf8.prefix(8))
        bytes += [UInt8](repeating: 0, count: 8 - bytes.count)
        bytes.append(littleEndian: UInt32(text.count))
        bytes.append(littleEndian: CRC32C.checksum(text))
        return bytes + text
    }

    /// The record at the start of bytes; nil where there is none that is whole.
    static func record<Record: Decodable>(
        _ type: Record.Type,
        in bytes: [UInt8],
        kind: String
    ) -> Record? {
        guard bytes.count >= headLength,
            bytes.prefix(8).elementsEqual(Self.bytes(of: "", kind: kind).prefix(8))
        else { return nil }
        let (length, checksum) = bytes.withUnsafeBytes { buffer in
            (
                Int(buffer.loadLittleEndian(at: 8, as: UInt32.self)),
                buffer.loadLittleEndian(at: 12, as: UInt32.self)
            )
        }
        guard length <= bytes.count - headLength else { return nil }
        let text = Array(bytes[headLength..<headLength + length])
        guard CRC32C.checksum(text) == checksum else { return nil }
        return try? JSONDecoder().decode(type, from: Data(text))
    }
}

/// Where a transfer keeps what it needs beside a file.
struct TransferNames: Sendable, Hashable {
    /// The file itself.
    let file: String
    let folder: String
    private let stem: String

    /// The names for a file on this machine.
    init(_ file: URL) throws(TransferError) {
        guard file.isFileURL else {
            throw TransferError(
                .invalidConfiguration,
                "The place of the file is not an address of this machine."
            )
        }
        self.init(path: file.path(percentEncoded: false))
    }

    init(path: String) {
        file = path
        let name: Substring
        if let slash = path.lastIndex(of: "/") {
            folder = slash == path.startIndex ? "/" : String(path[..<slash])
            name = path[path.index(after: slash)...]
        } else {
            folder = "."
            name = path[...]
        }
        // Names may have 255 bytes; a longer one is cut and told apart by its checksum.
        let bytes = Array(name.utf8)
        if bytes.count <= 200 {
            stem = String(name)
        } else {
            stem = name.prefix(48) + "-" + String(CRC32C.checksum(bytes), radix: 16)
        }
    }

    /// The path of a companion: hidden, and named after the file.
    func companion(_ suffix: String) -> String {
        (folder == "/" ? "/" : folder + "/") + ".keel-" + stem + "." + suffix
    }
}

extension FileSystem {
    /// Takes the lock of a transfer; see `FileLock.isStill(at:)`.
    func transferLock(_ path: String) throws(FileSystemError) -> any FileLock {
        while true {
            let lock = try lock(path)
            if lock.isStill(at: path) { return lock }
        }
    }

    /// Removes a file that may not be there.
    func removeIfThere(_ path: String) throws(FileSystemError) {
        do throws(FileSystemError) {
            try remove(path)
        } catch {
            guard error.kind == .notFound else { throw error }
        }
    }

    /// All bytes of a small file; nil where there is none.
    func contents(of path: String, upTo limit: Int) throws(FileSystemError) -> [UInt8]? {
        do throws(FileSystemError) {
            return try open(path, for: .reading).read(at: 0, count: limit)
        } catch {
            guard error.kind == .notFound else { throw error }
            return nil
        }
    }
}
