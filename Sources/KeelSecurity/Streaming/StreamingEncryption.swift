#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Encrypts files and other streams of any length, with bounded memory.
///
/// ```swift
/// let streams = try StreamingEncryption(keyset: try Keyset.make(.aes256GCMHKDF64KB))
/// var encryptor = try streams.encryptor(associatedData: name)
/// try file.write(contentsOf: try encryptor.update(piece))
/// try file.write(contentsOf: try encryptor.finish())
/// ```
///
/// The format is Tink's AES-GCM-HKDF. Each stream has a key of its own, so there is no practical
/// limit to how many a keyset encrypts. Segments that were changed, moved, left out or cut off are
/// refused.
public struct StreamingEncryption: Sendable {
    /// The keys.
    public let keyset: Keyset

    /// Uses a keyset for streams.
    ///
    /// - Parameter keyset: Keys of an algorithm with `HKDF` in its name.
    /// - Throws: `invalidArgument` if the keys are for values.
    public init(keyset: Keyset) throws(SecurityError) {
        guard keyset.primary.algorithm.isStreaming else {
            throw SecurityError(.invalidArgument, "the keyset is for values, not for streams")
        }
        self.keyset = keyset
    }

    /// Begins to encrypt a stream with the primary key.
    ///
    /// - Parameter associatedData: What the stream belongs to; it is not stored, and decryption
    ///   needs the same bytes.
    /// - Returns: What takes the stream's pieces.
    /// - Throws: `keyNotFound` if the dates of the primary key do not let it encrypt.
    public func encryptor(associatedData: Data = Data()) throws(SecurityError) -> StreamEncryptor {
        guard keyset.primary.dates.permitEncryption(at: .now) else {
            throw SecurityError(.keyNotFound, "the dates of the primary key let it not encrypt")
        }
        return StreamEncryptor(
            try SegmentCipher(keyset.primary, associatedData: associatedData)
        )
    }

    /// Begins to decrypt a stream that was made with any enabled key.
    ///
    /// - Parameter associatedData: The bytes that were given when it was encrypted.
    /// - Returns: What takes the encrypted stream's pieces.
    public func decryptor(associatedData: Data = Data()) -> StreamDecryptor {
        StreamDecryptor(keys, associatedData: associatedData)
    }

    /// Opens an encrypted stream for reads at any place.
    ///
    /// - Parameters:
    ///   - size: The size of the encrypted stream.
    ///   - associatedData: The bytes that were given when it was encrypted.
    ///   - fetch: Returns a part of the encrypted stream.
    /// - Returns: What reads the plain bytes.
    /// - Throws: `decryptionFailed` if no key fits or the stream was cut off, `streamFailed`.
    public func seekable(
        size: Int,
        associatedData: Data = Data(),
        fetch: @escaping @Sendable (Range<Int>) throws -> Data
    ) throws(SecurityError) -> SeekableDecryption {
        try SeekableDecryption(keys, size: size, associatedData: associatedData, fetch: fetch)
    }

    /// The enabled keys, the primary one first.
    var keys: [KeysetKey] {
        [keyset.primary]
            + keyset.keys.filter { $0.status == .enabled && $0.id != keyset.primaryID }
    }

    static let refusal = SecurityError(
        .decryptionFailed,
        "the stream is damaged or cut off, belongs to another place, or needs another key"
    )
}
#endif
