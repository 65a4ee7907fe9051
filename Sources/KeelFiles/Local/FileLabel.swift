internal import KeelCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// What the local store keeps with a file, in an extended attribute of it, `user.keel.file`.
///
/// The attribute is set before the file gets its name: both appear in one step, and leave in one.
///
/// It is a short array of CBOR: ext4 has 60 bytes for it beside a file's own record. What is longer
/// takes a block of the volume, and giving that back, when the next file gets the name, makes a put
/// as slow as two (2 ms more, measured on ext4). A label without attributes and with a CRC-32C has 33
/// bytes and its content type.
struct FileLabel: Hashable, Sendable {
    /// Which content it is; a new random number with each.
    var version: UInt64
    var contentType: String
    var attributes: [String: String]
    /// The number of the algorithm, and the checksum; another program may know other algorithms.
    private var checksumBytes: [UInt8]
    /// The size and the time of the bytes that this is about: another program may change them.
    var size: Int
    var modified: Int64

    static let name = "user.keel.file"
    /// The first number of the array.
    private static let format: UInt64 = 1
    private static let fieldCount = 7
    /// More than any label has: volumes allow 64 KiB, and most of them 4.
    private static let mostBytes = 64 << 10

    static func newVersion() -> UInt64 { .random(in: .min ... .max) }

    /// The version as the store's users see it.
    var fileVersion: FileVersion { FileVersion(String(version, radix: 36)) }

    /// Whether the file still has the bytes that this is about.
    func isAbout(_ status: FileStatus) -> Bool {
        size == status.size && modified == status.modified
    }

    /// The checksum of the bytes; nil for one of a kind that this program does not know.
    var checksum: FileChecksum? {
        guard let number = checksumBytes.first,
            let algorithm = FileChecksum.Algorithm.allCases
                .first(where: { Self.number(of: $0) == number }),
            (try? FileHash(algorithm)) != nil
        else { return nil }
        return try? FileChecksum(algorithm, bytes: Array(checksumBytes.dropFirst()))
    }

    init(
        version: UInt64,
        contentType: String,
        attributes: [String: String],
        checksum: FileChecksum,
        _ status: FileStatus
    ) {
        self.version = version
        self.contentType = contentType
        self.attributes = attributes
        checksumBytes = [Self.number(of: checksum.algorithm)] + checksum.bytes
        size = status.size
        modified = status.modified
    }

    /// Reads the label of an open file; nil where it has none that this program can read.
    init?(of file: Descriptor) {
        guard let bytes = file.attribute(Self.name, upTo: Self.mostBytes),
            let label = try? Self(encoded: bytes)
        else { return nil }
        self = label
    }

    /// Sets the label of an open file.
    ///
    /// - Returns: Zero, or the system's number of the failure.
    func set(on file: Descriptor) -> Int32 {
        let bytes = encoded
        let number = file.setAttribute(Self.name, bytes)
        // A label that is longer than a block has no room on some volumes, however empty they are.
        let isTooLong = bytes.count > Self.usualRoom && [ENOSPC, EDQUOT, ERANGE].contains(number)
        return isTooLong ? E2BIG : number
    }

    /// What most volumes have for the attributes of a file: a block, with what describes it.
    private static let usualRoom = 3500

    // MARK: Bytes

    var encoded: [UInt8] {
        var writer = CBORWriter(capacity: 64)
        writer.arrayHeader(Self.fieldCount)
        writer.unsigned(Self.format)
        writer.unsigned(version)
        writer.byteString(checksumBytes)
        writer.integer(Int64(size))
        writer.integer(modified)
        // The usual one of what nobody knows is long.
        if contentType == ContentTypes.unknown { writer.null() } else { writer.text(contentType) }
        writer.mapHeader(attributes.count)
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            writer.text(name)
            writer.text(value)
        }
        return writer.bytes
    }

    init?(encoded bytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(bytes)
        let count = try reader.readArrayHeader()
        let format = try reader.readUnsigned()
        // A later program may put other things there.
        guard count == Self.fieldCount, format == Self.format else { return nil }
        version = try reader.readUnsigned()
        checksumBytes = try reader.readByteString()
        size = Int(try reader.readInteger())
        modified = try reader.readInteger()
        contentType = reader.readNullIfPresent() ? ContentTypes.unknown : try reader.readText()
        attributes = [:]
        for _ in 0..<(try reader.readMapHeader() ?? 0) {
            let name = try reader.readText()
            attributes[name] = try reader.readText()
        }
        try reader.finish()
    }

    private static func number(of algorithm: FileChecksum.Algorithm) -> UInt8 {
        switch algorithm {
        case .crc32c: 1
        case .sha256: 2
        }
    }
}
