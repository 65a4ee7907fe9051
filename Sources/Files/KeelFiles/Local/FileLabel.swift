internal import KeelCBOR

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// The metadata that the local store keeps with a file, in its extended attribute `user.keel.file`.
///
/// It is a short CBOR array, because ext4 has room for 60 bytes within the inode, and a longer attribute makes a write
/// take twice as long. A label without attributes and with a CRC-32C has 33 bytes plus its content type.
struct FileLabel: Hashable, Sendable {
    /// The version of the content; a new random number for each.
    var version: UInt64
    var contentType: String
    var attributes: [String: String]
    /// The number of the algorithm and the checksum; other programs may know other algorithms.
    private var checksumBytes: [UInt8]
    var size: Int
    var modified: Int64

    static let name = "user.keel.file"
    private static let format: UInt64 = 1
    private static let fieldCount = 7
    /// The upper bound of a label's size: volumes allow at most 64 KiB, most of them 4.
    private static let maximumBytes = 64 << 10

    static func newVersion() -> UInt64 { .random(in: .min ... .max) }

    var fileVersion: FileVersion { FileVersion(String(version, radix: 36)) }

    func isAbout(_ status: FileStatus) -> Bool {
        size == status.size && modified == status.modified
    }

    /// The checksum of the bytes; nil for an unknown algorithm.
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

    init?(of file: Descriptor) {
        guard let bytes = file.attribute(Self.name, upTo: Self.maximumBytes),
            let label = try? Self(encoded: bytes)
        else { return nil }
        self = label
    }

    /// Sets the label of an open file; returns zero or the error number.
    func set(on file: Descriptor) -> Int32 {
        let bytes = encoded
        let number = file.setAttribute(Self.name, bytes)
        // Some volumes have no room for a label larger than a block, however empty they are.
        let isTooLong = bytes.count > Self.usualRoom && [ENOSPC, EDQUOT, ERANGE].contains(number)
        return isTooLong ? E2BIG : number
    }

    /// The room for the attributes of a file on most volumes: a block minus its overhead.
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
        // The default type is long, so it is written as null.
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
        // A later version may use other fields.
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
