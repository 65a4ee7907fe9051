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
/// let encryptor = try streams.encryptor(associatedData: name)
/// try file.write(contentsOf: try encryptor.update(piece))
/// try file.write(contentsOf: try encryptor.finish())
/// ```
///
/// The format is Tink's AES-GCM-HKDF. Each stream has a key of its own, so there is no practical
/// limit to how many a keyset encrypts. Segments that were changed, moved, left out or cut off are
/// refused.
///
/// Which key encrypts follows the keys' dates at each new stream. With the ring of a ``KeysetFile``
/// it also follows what others write to the file.
public struct StreamingEncryption: Sendable {
    /// Where the segments were as far as the enabled keys agreed at the beginning.
    let layout: SegmentLayout?
    private let ring: KeyRing

    /// The keys as they are now.
    public var keyset: Keyset { ring.keyset }

    /// Uses a keyset for streams.
    ///
    /// - Parameters:
    ///   - keyset: Keys of an algorithm with `HKDF` in its name.
    ///   - now: The clock.
    /// - Throws: `invalidArgument` if the keys are for values.
    public init(
        keyset: Keyset,
        now: @escaping @Sendable () -> Date = { Date.now }
    ) throws(SecurityError) {
        var configuration = KeyRing.Configuration()
        configuration.now = now
        try self.init(keys: KeyRing(keyset, configuration: configuration))
    }

    /// Uses keys that others use too, such as the ring of a ``KeysetFile``.
    ///
    /// - Parameter keys: Keys of an algorithm with `HKDF` in its name. Streams are not counted.
    /// - Throws: `invalidArgument` if the keys are for values.
    public init(keys: KeyRing) throws(SecurityError) {
        let keyset = keys.keyset
        guard keyset.primary.algorithm.isStreaming else {
            throw SecurityError(.invalidArgument, "the keyset is for values, not for streams")
        }
        ring = keys
        let layouts = Set(Self.enabled(keyset).map { SegmentLayout($0.algorithm) })
        layout = layouts.count == 1 ? layouts.first.flatMap(\.self) : nil
    }

    /// Begins to encrypt a stream with the primary key.
    ///
    /// - Parameter associatedData: What the stream belongs to; it is not stored, and decryption
    ///   needs the same bytes.
    /// - Returns: What takes the stream's pieces.
    /// - Throws: `keyNotFound` if the dates let no key encrypt, `keyStoreFailed`.
    public func encryptor(associatedData: Data = Data()) throws(SecurityError) -> StreamEncryptor {
        StreamEncryptor(try SegmentCipher(ring.primaryKey(), associatedData: associatedData))
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
    var keys: [KeysetKey] { Self.enabled(keyset) }

    private static func enabled(_ keyset: Keyset) -> [KeysetKey] {
        [keyset.primary]
            + keyset.keys.filter { $0.status == .enabled && $0.id != keyset.primaryID }
    }

    static let refusal = SecurityError(
        .decryptionFailed,
        "the stream is damaged or cut off, belongs to another place, or needs another key"
    )
}
#endif
