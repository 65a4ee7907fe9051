#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Encryption of files and other streams of any length in bounded memory.
///
/// ```swift
/// let streams = try StreamingEncryption(keyset: try Keyset.make(.aes256GCMHKDF64KB))
/// let encryptor = try streams.encryptor(associatedData: name)
/// try file.write(contentsOf: try encryptor.update(piece))
/// try file.write(contentsOf: try encryptor.finish())
/// ```
///
/// The format is Tink's AES-GCM-HKDF. Each stream has its own key, so the number of streams per keyset is not limited.
/// Segments that were changed, moved, omitted or truncated are refused.
///
/// The keys' dates decide which key encrypts each new stream.
public struct StreamingEncryption: Sendable {
    /// The layout of streams; nil if the enabled keys differed in layout at creation.
    let layout: SegmentLayout?
    private let ring: KeyRing

    /// The current keyset.
    public var keyset: Keyset { ring.keyset }

    /// Creates streaming encryption with a keyset.
    ///
    /// - Parameters:
    ///   - keyset: Keys of an algorithm with `HKDF` in its name.
    ///   - now: The clock.
    /// - Throws: `invalidArgument` if the keys are not for streams.
    public init(
        keyset: Keyset,
        now: @escaping @Sendable () -> Date = { Date.now }
    ) throws(SecurityError) {
        var configuration = KeyRing.Configuration()
        configuration.now = now
        try self.init(keys: KeyRing(keyset, configuration: configuration))
    }

    /// Creates streaming encryption with a shared key ring, such as that of a ``KeysetFile``.
    ///
    /// - Parameter keys: Keys of an algorithm with `HKDF` in its name. Streams are not counted.
    /// - Throws: `invalidArgument` if the keys are not for streams.
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
    /// - Parameter associatedData: The context that the stream is bound to. It is not stored, and decryption needs the
    ///   same bytes.
    /// - Returns: An encryptor for the pieces of the stream.
    /// - Throws: `keyNotFound` if no key may encrypt at this time, `keyStoreFailed` or `randomGenerationFailed`.
    public func encryptor(associatedData: Data = Data()) throws(SecurityError) -> StreamEncryptor {
        StreamEncryptor(try SegmentCipher(ring.primaryKey(), associatedData: associatedData))
    }

    /// Begins to decrypt a stream that was encrypted with any enabled key.
    ///
    /// - Returns: A decryptor for the pieces of the stream.
    public func decryptor(associatedData: Data = Data()) -> StreamDecryptor {
        StreamDecryptor(keys, associatedData: associatedData)
    }

    /// Opens an encrypted stream for random access.
    ///
    /// - Parameters:
    ///   - size: The size of the encrypted stream.
    ///   - associatedData: The associated data of its encryption.
    ///   - fetch: Returns a range of the encrypted stream.
    /// - Returns: A reader of the plaintext.
    /// - Throws: `decryptionFailed` if no key fits or the stream was truncated, or `streamFailed`.
    public func seekable(
        size: Int,
        associatedData: Data = Data(),
        fetch: @escaping @Sendable (Range<Int>) throws -> Data
    ) throws(SecurityError) -> SeekableDecryption {
        try SeekableDecryption(keys, size: size, associatedData: associatedData, fetch: fetch)
    }

    /// The enabled keys, primary key first.
    var keys: [KeysetKey] { Self.enabled(keyset) }

    private static func enabled(_ keyset: Keyset) -> [KeysetKey] {
        [keyset.primary]
            + keyset.keys.filter { $0.status == .enabled && $0.id != keyset.primaryID }
    }

    static let refusal = SecurityError(
        .decryptionFailed,
        "the stream is damaged or truncated, has different associated data, or needs a different key"
    )
}
#endif
