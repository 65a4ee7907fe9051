#if Crypto
public import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Keyset {
    /// The two forms in which a keyset is kept.
    public enum Format: Hashable, Sendable {
        /// Tink's binary format.
        case binary
        /// Tink's JSON.
        case json
    }

    /// Reads a keyset that was encrypted under a source's key, in either of the two forms.
    ///
    /// - Parameters:
    ///   - data: What `encrypted(under:associatedData:format:)` returned, or Tink wrote.
    ///   - source: What knows the key: a secret store, a file, a credential of the system.
    ///   - associatedData: The bytes that were given then.
    /// - Throws: `keyStoreFailed` if the source fails, `cancelled`, `decryptionFailed` for another
    ///   key-encryption key or changed bytes, `invalidKey`, `unsupportedKey`.
    public init(
        encrypted data: Data,
        under source: any KeyEncryptionKeySource,
        associatedData: Data = Data()
    ) async throws(SecurityError) {
        try self.init(data, try await KeysetCipher(source), associatedData)
    }

    /// Reads a keyset that was encrypted under a key at hand.
    ///
    /// - Parameters:
    ///   - data: What `encrypted(under:associatedData:format:)` returned, or Tink wrote.
    ///   - key: The key-encryption key.
    ///   - associatedData: The bytes that were given then.
    /// - Throws: `decryptionFailed` for another key-encryption key or changed bytes, `invalidKey`,
    ///   `unsupportedKey`.
    public init(
        encrypted data: Data,
        under key: KeyEncryptionKey,
        associatedData: Data = Data()
    ) throws(SecurityError) {
        try self.init(data, KeysetCipher(key), associatedData)
    }

    init(
        _ data: Data,
        _ cipher: KeysetCipher,
        _ associatedData: Data
    ) throws(SecurityError) {
        var plain = try cipher.open(try EncryptedForm.content(of: data), associatedData)
        var bytes = [UInt8](plain)
        plain.resetBytes(in: plain.startIndex..<plain.endIndex)
        try self.init(wiping: &bytes)
    }

    /// The keyset, encrypted with AES-256-GCM under a source's key.
    ///
    /// Beside the encrypted keys stand their ids, types and states, as Tink has it: they are no
    /// secret. What is read is only the encrypted part.
    ///
    /// - Parameters:
    ///   - source: What knows the key: a secret store, a file, a credential of the system.
    ///   - associatedData: What the keyset belongs to; reading it needs the same bytes.
    ///   - format: The form of the result.
    /// - Returns: The bytes or the text.
    /// - Throws: `keyStoreFailed` if the source fails, `cancelled`, `encryptionFailed`.
    public func encrypted(
        under source: any KeyEncryptionKeySource,
        associatedData: Data = Data(),
        format: Format = .json
    ) async throws(SecurityError) -> Data {
        try encrypted(try await KeysetCipher(source), associatedData, format)
    }

    /// The keyset, encrypted with AES-256-GCM under a key at hand: for a ``KeyRing`` that saves it,
    /// which cannot wait for a source.
    ///
    /// - Parameters:
    ///   - key: The key-encryption key.
    ///   - associatedData: What the keyset belongs to; reading it needs the same bytes.
    ///   - format: The form of the result.
    /// - Returns: The bytes or the text.
    /// - Throws: `encryptionFailed`.
    public func encrypted(
        under key: KeyEncryptionKey,
        associatedData: Data = Data(),
        format: Format = .json
    ) throws(SecurityError) -> Data {
        try encrypted(KeysetCipher(key), associatedData, format)
    }

    func encrypted(
        _ cipher: KeysetCipher,
        _ associatedData: Data,
        _ format: Format
    ) throws(SecurityError) -> Data {
        var plain = binary()
        defer { Wiping.overwrite(&plain) }
        return EncryptedForm.written(
            try cipher.seal(plain, associatedData),
            describing: self,
            format
        )
    }
}
#endif
