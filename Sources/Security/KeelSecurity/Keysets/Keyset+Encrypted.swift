#if Crypto
public import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Keyset {
    /// The formats of an encrypted keyset.
    public enum Format: Hashable, Sendable {
        /// Tink's binary format.
        case binary
        /// Tink's JSON.
        case json
    }

    /// Reads a keyset, in either format, that was encrypted under a source's key.
    ///
    /// - Parameters:
    ///   - data: The result of `encrypted(under:associatedData:format:)`, or an encrypted keyset of Tink.
    ///   - source: The source of the key-encryption key: a secret store, a file or a system credential.
    ///   - associatedData: The associated data of the encryption.
    /// - Throws: `keyStoreFailed` if the source fails, `decryptionFailed` for another key-encryption key or changed
    ///   bytes, `invalidKey`, `unsupportedKey` or `cancelled`.
    public init(
        encrypted data: Data,
        under source: any KeyEncryptionKeySource,
        associatedData: Data = Data()
    ) async throws(SecurityError) {
        try self.init(data, try await KeysetCipher(source), associatedData)
    }

    /// Reads a keyset that was encrypted under the given key.
    ///
    /// - Parameters:
    ///   - data: The result of `encrypted(under:associatedData:format:)`, or an encrypted keyset of Tink.
    ///   - key: The key-encryption key.
    ///   - associatedData: The associated data of the encryption.
    /// - Throws: `decryptionFailed` for another key-encryption key or changed bytes, `invalidKey` or `unsupportedKey`.
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

    /// Returns the keyset, encrypted with AES-256-GCM under a source's key.
    ///
    /// As in Tink's format, the ids, types and states of the keys are not encrypted. They are not secret, and reading
    /// the keyset ignores them.
    ///
    /// - Parameters:
    ///   - source: The source of the key-encryption key: a secret store, a file or a system credential.
    ///   - associatedData: The context that the keyset is bound to; reading it needs the same bytes.
    ///   - format: The format of the result.
    /// - Returns: The encrypted keyset.
    /// - Throws: `keyStoreFailed` if the source fails, `encryptionFailed` or `cancelled`.
    public func encrypted(
        under source: any KeyEncryptionKeySource,
        associatedData: Data = Data(),
        format: Format = .json
    ) async throws(SecurityError) -> Data {
        try encrypted(try await KeysetCipher(source), associatedData, format)
    }

    /// Returns the keyset, encrypted with AES-256-GCM under the given key.
    ///
    /// Use this method in the `save` closure of a ``KeyRing``, which cannot wait for a source.
    ///
    /// - Parameters:
    ///   - key: The key-encryption key.
    ///   - associatedData: The context that the keyset is bound to; reading it needs the same bytes.
    ///   - format: The format of the result.
    /// - Returns: The encrypted keyset.
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
        defer { Zeroing.overwrite(&plain) }
        return EncryptedForm.written(
            try cipher.seal(plain, associatedData),
            describing: self,
            format
        )
    }
}
#endif
