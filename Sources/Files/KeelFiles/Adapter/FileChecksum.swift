internal import KeelCore

#if Crypto
internal import Crypto
#endif

/// A checksum of a file's bytes.
public struct FileChecksum: Hashable, Sendable, CustomStringConvertible {
    /// The algorithms of checksums.
    public enum Algorithm: String, Hashable, Sendable, CaseIterable, Codable {
        /// CRC-32C (RFC 3720), four bytes in big-endian order, which detects accidental damage.
        case crc32c
        /// SHA-256 (FIPS 180-4), which detects deliberate changes as well.
        ///
        /// It requires the trait `Crypto`; without it, calls with such a checksum fail with `unsupported`.
        case sha256

        /// The size of the checksum in bytes.
        public var byteCount: Int { self == .crc32c ? 4 : 32 }
    }

    /// The algorithm of the checksum.
    public let algorithm: Algorithm
    /// The bytes of the checksum.
    public let bytes: [UInt8]

    /// Creates a checksum from its bytes, or throws `invalidArgument` if their number is wrong.
    public init(_ algorithm: Algorithm, bytes: [UInt8]) throws(FileStoreError) {
        guard bytes.count == algorithm.byteCount else {
            throw FileStoreError(
                .invalidArgument,
                "A \(algorithm.rawValue) checksum must have \(algorithm.byteCount) bytes."
            )
        }
        self.init(algorithm: algorithm, bytes: bytes)
    }

    init(algorithm: Algorithm, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Returns the checksum of bytes in memory, or throws `unsupported` if the algorithm is not available.
    public static func of(
        _ bytes: [UInt8],
        by algorithm: Algorithm = .sha256
    ) throws(FileStoreError) -> FileChecksum {
        var hash = try FileHash(algorithm)
        hash.update(bytes)
        return hash.checksum
    }

    /// Returns the CRC-32C of concatenated parts, or nil if a part has another kind of checksum.
    package static func joined(_ parts: [(checksum: FileChecksum, byteCount: Int)]) -> FileChecksum?
    {
        var value = CRC32C().value
        for part in parts {
            guard part.checksum.algorithm == .crc32c else { return nil }
            let own = UInt32(bigEndianBytes: part.checksum.bytes)
            value = CRC32C.joined(value, own, count: part.byteCount)
        }
        return FileChecksum(algorithm: .crc32c, bytes: value.bigEndianBytes)
    }

    /// The algorithm and the checksum in lowercase hexadecimal digits.
    public var description: String {
        "\(algorithm.rawValue):\(Hexadecimal.text(of: bytes))"
    }
}

package struct FileHash: Sendable {
    private enum State: Sendable {
        case crc32c(CRC32C)
        #if Crypto
        case sha256(SHA256)
        #endif
    }

    private var state: State

    package init(_ algorithm: FileChecksum.Algorithm) throws(FileStoreError) {
        switch algorithm {
        case .crc32c: state = .crc32c(CRC32C())
        case .sha256:
            #if Crypto
            state = .sha256(SHA256())
            #else
            throw FileStoreError(.unsupported, "SHA-256 needs the package's Crypto trait.")
            #endif
        }
    }

    package mutating func update(_ bytes: [UInt8]) {
        switch state {
        case .crc32c(var crc):
            bytes.withUnsafeBytes { crc.update($0) }
            state = .crc32c(crc)
        #if Crypto
        case .sha256(var sha):
            sha.update(data: bytes)
            state = .sha256(sha)
        #endif
        }
    }

    package var checksum: FileChecksum {
        switch state {
        case .crc32c(let crc):
            return FileChecksum(algorithm: .crc32c, bytes: crc.value.bigEndianBytes)
        #if Crypto
        case .sha256(let sha):
            return FileChecksum(algorithm: .sha256, bytes: Array(sha.finalize()))
        #endif
        }
    }
}

package enum FileIntegrityCheck {
    /// Throws `checksumMismatch` if the length or the checksum differs.
    package static func check(
        _ count: Int,
        _ checksum: FileChecksum,
        of content: FileContent,
        _ options: FileWriteOptions,
        _ path: FileStorePath
    ) throws(FileStoreError) {
        if let length = content.length, length != count {
            throw FileStoreError(
                .checksumMismatch,
                "“\(path)” was announced with \(length) bytes, but \(count) arrived."
            )
        }
        if let expected = options.checksum, expected != checksum {
            throw FileStoreError(
                .checksumMismatch,
                "The bytes for “\(path)” have the checksum \(checksum), not \(expected)."
            )
        }
    }
}
