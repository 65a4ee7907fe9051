internal import CKeelAttributes
internal import KeelCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#elseif canImport(Darwin)
internal import Darwin
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What the local store keeps with a file, in an extended attribute of it (`user.keel.file`, JSON).
///
/// The attribute is set before the file gets its name: both appear in one step, and leave in one.
struct FileLabel: Codable, Hashable, Sendable {
    /// Which content it is; a new random text with each.
    var version: String
    var contentType: String
    var attributes: [String: String]
    /// The checksum, as its description has it.
    var checksum: String
    /// The size and the time of the bytes that this is about: another program may change them.
    var size: Int
    var modified: Int64

    private static let name = "user.keel.file"
    /// More than any label has: volumes allow 64 KiB, and most of them 4.
    private static let mostBytes = 64 << 10

    static func newVersion() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Whether the file still has the bytes that this is about.
    func isAbout(_ status: FileStatus) -> Bool {
        size == status.size && modified == status.modified
    }

    /// The checksum of the bytes; nil for one of a kind that this program does not know.
    var fileChecksum: FileChecksum? {
        let parts = checksum.split(separator: ":")
        guard parts.count == 2, let algorithm = FileChecksum.Algorithm(rawValue: String(parts[0])),
            (try? FileHash(algorithm)) != nil, let bytes = Hexadecimal.bytes(of: parts[1])
        else { return nil }
        return try? FileChecksum(algorithm, bytes: bytes)
    }

    /// Reads the label of an open file; nil where it has none that this program can read.
    init?(of file: Descriptor) {
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.mostBytes) { buffer, count in
            #if canImport(Darwin)
            let length = fgetxattr(file.number, Self.name, buffer.baseAddress, buffer.count, 0, 0)
            #else
            let length = fgetxattr(file.number, Self.name, buffer.baseAddress, buffer.count)
            #endif
            count = max(0, length)
        }
        guard !bytes.isEmpty,
            let label = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        self = label
    }

    init(
        version: String,
        contentType: String,
        attributes: [String: String],
        checksum: FileChecksum,
        _ status: FileStatus
    ) {
        self.version = version
        self.contentType = contentType
        self.attributes = attributes
        self.checksum = checksum.description
        size = status.size
        modified = status.modified
    }

    /// Sets the label of an open file.
    ///
    /// - Returns: Zero, or the system's number of the failure.
    func set(on file: Descriptor) -> Int32 {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let data = try? encoder.encode(self) else { return EINVAL }
        let result = data.withUnsafeBytes { bytes in
            #if canImport(Darwin)
            fsetxattr(file.number, Self.name, bytes.baseAddress, bytes.count, 0, 0)
            #else
            fsetxattr(file.number, Self.name, bytes.baseAddress, bytes.count, 0)
            #endif
        }
        if result == 0 { return 0 }
        // A label that is longer than a block has no room on some volumes, however empty they are.
        let isTooLong = data.count > Self.usualRoom && [ENOSPC, EDQUOT, ERANGE].contains(errno)
        return isTooLong ? E2BIG : errno
    }

    /// What most volumes have for the attributes of a file: a block, with what describes it.
    private static let usualRoom = 3500
}
