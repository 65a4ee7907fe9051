#if Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Tink's message of an encrypted keyset: the ciphertext and an unencrypted description of the keys.
enum EncryptedForm {
    /// Returns the ciphertext of a message in JSON or binary form.
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
    /// The description is not authenticated: it may be a reason to stop, but never one to go on.
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
