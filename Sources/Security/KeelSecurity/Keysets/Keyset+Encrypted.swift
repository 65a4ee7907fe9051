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

    /// Reads an encrypted keyset, in either format, also of Tink.
    ///
    /// - Throws: `keyStoreFailed` if the source fails, `decryptionFailed` for another key-encryption key or changed
    ///   bytes, `invalidKey`, `unsupportedKey` or `cancelled`.
    public init(
        encrypted data: Data,
        under source: any KeyEncryptionKeySource,
        associatedData: Data = Data()
    ) async throws(SecurityError) {
        try self.init(data, try await KeysetCipher(source), associatedData)
    }

    /// Reads an encrypted keyset, in either format, under the given key.
    ///
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
    /// As in Tink's format, the ids, types and states of the keys are not encrypted.
    ///
    /// - Parameters:
    ///   - source: The source of the key-encryption key.
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

    /// Returns the keyset, encrypted under the given key, as for the `save` closure of a ``KeyRing``.
    ///
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

/// Tink's message of an encrypted keyset: the ciphertext and an unencrypted description of the keys.
enum EncryptedForm {
    static func content(of data: Data) throws(SecurityError) -> Data {
        let isJSON = data.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        let found =
            isJSON
            ? try? JSONDecoder().decode(JSONForm.self, from: data).encryptedKeyset
            : binaryContent(of: data)
        guard let found, !found.isEmpty else {
            throw SecurityError(.invalidKey, "the bytes are not an encrypted keyset")
        }
        return found
    }

    /// Returns a key's status according to the unencrypted description in a JSON file, or nil if the file lacks the
    /// key.
    ///
    /// The description is not authenticated: use it only as a reason to stop.
    static func status(of id: UInt32, in content: [UInt8]) -> KeysetKey.Status? {
        let form = try? JSONDecoder().decode(JSONForm.self, from: Data(content))
        let entry = form?.keysetInfo?.keyInfo.first { $0.keyId == id }
        return entry.flatMap { KeysetKey.Status(name: $0.status) }
    }

    static func written(
        _ sealed: Data,
        describing keyset: Keyset,
        _ format: Keyset.Format
    ) -> Data {
        switch format {
        case .json: JSONText.of(JSONForm(encryptedKeyset: sealed, keysetInfo: .init(keyset)))
        case .binary: binary(sealed, describing: keyset)
        }
    }

    private static func binaryContent(of data: Data) -> Data? {
        var content: Data?
        var reader = ProtobufReader([UInt8](data)[...])
        while let (field, value) = reader.next() {
            if field == 2, case .data(let bytes) = value { content = Data(bytes) }
        }
        return reader.isDamaged ? nil : content
    }

    private static func binary(_ sealed: Data, describing keyset: Keyset) -> Data {
        var writer = ProtobufWriter()
        writer.data(2, sealed)
        writer.message(3) { info in
            info.varint(1, UInt64(keyset.primaryID))
            for key in keyset.keys {
                info.message(2) { entry in
                    entry.string(1, KeyCoding.typeURL(of: key.algorithm))
                    entry.varint(2, key.status.number)
                    entry.varint(3, UInt64(key.id))
                    entry.varint(4, key.prefix.number)
                }
            }
        }
        return Data(writer.bytes)
    }

    private struct JSONForm: Codable {
        var encryptedKeyset: Data
        var keysetInfo: Info?

        struct Info: Codable {
            var primaryKeyId: UInt32
            var keyInfo: [Entry]

            init(_ keyset: Keyset) {
                primaryKeyId = keyset.primaryID
                keyInfo = keyset.keys.map { key in
                    Entry(
                        typeUrl: KeyCoding.typeURL(of: key.algorithm),
                        status: key.status.name,
                        keyId: key.id,
                        outputPrefixType: key.prefix.name
                    )
                }
            }
        }

        struct Entry: Codable {
            var typeUrl: String
            var status: String
            var keyId: UInt32
            var outputPrefixType: String
        }
    }
}
#endif
