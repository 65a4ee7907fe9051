import KeelCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The format of a transfer's record: a checksum precedes it, so that a torn file is detected.
///
/// Eight bytes name the kind and its version. The length and the CRC-32C of the following JSON text come next, as
/// little-endian numbers of four bytes.
enum RecordFile {
    static let headLength = 16

    static func bytes<Record: Encodable>(of record: Record, kind: String) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Records consist of numbers and strings, which can always be encoded.
        let text = (try? encoder.encode(record)).map(Array.init) ?? []
        var bytes = Array(kind.utf8.prefix(8))
        bytes += [UInt8](repeating: 0, count: 8 - bytes.count)
        bytes.append(littleEndian: UInt32(text.count))
        bytes.append(littleEndian: CRC32C.checksum(text))
        return bytes + text
    }

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

/// The paths of a file and of a transfer's companions beside it.
struct TransferNames: Sendable, Hashable {
    let file: String
    let folder: String
    private let stem: String

    init(_ file: URL) throws(TransferError) {
        guard file.isFileURL else {
            throw TransferError(
                .invalidConfiguration,
                "The file's URL is not a file URL."
            )
        }
        self.init(path: file.path(percentEncoded: false))
    }

    init(path: String) {
        file = path
        let name: Substring
        // By bytes: a slash and a combining mark are one character.
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            folder = slash == path.startIndex ? "/" : String(path[..<slash])
            name = path[path.utf8.index(after: slash)...]
        } else {
            folder = "."
            name = path[...]
        }
        // Names may have 255 bytes; longer ones are truncated and distinguished by a checksum.
        let bytes = Array(name.utf8)
        if bytes.count <= 200 {
            stem = String(name)
        } else {
            var start = name.prefix(48)
            // One character, such as a family of emoji, can have dozens of bytes.
            while start.utf8.count > 200 { start.removeLast() }
            stem = String(start) + "-" + String(CRC32C.checksum(bytes), radix: 16)
        }
    }

    /// Returns the path of a companion: hidden, and named after the file.
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
}
