#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Keyset {
    /// Reads an unencrypted keyset in Tink's JSON format.
    ///
    /// - Parameter cleartextJSON: The text, as UTF-8.
    /// - Throws: `invalidKey` if it is damaged, or `unsupportedKey` for keys of unknown types.
    public init(cleartextJSON: Data) throws(SecurityError) {
        // The decoder's error may quote the text, so it must not become the cause.
        guard let form = try? JSONDecoder().decode(JSONForm.self, from: cleartextJSON) else {
            throw Self.damaged
        }
        var parts = KeysetParts()
        for key in form.key {
            let value = [UInt8](key.keyData?.value ?? Data())
            try parts.add(
                key.keyId,
                key.keyData?.typeUrl ?? "",
                value[...],
                KeysetKey.Status(name: key.status),
                KeysetKey.Prefix(name: key.outputPrefixType)
            )
        }
        let keys = try parts.keys(primaryID: form.primaryKeyId)
        try self.init(keys: keys, primaryID: form.primaryKeyId)
    }

    /// Returns the unencrypted keyset in Tink's JSON format: anyone with the text has the keys.
    ///
    /// - Returns: The text, as UTF-8.
    public func cleartextJSON() -> Data {
        let form = JSONForm(
            primaryKeyId: primaryID,
            key: keys.map { key in
                JSONForm.Key(
                    keyData: .init(
                        typeUrl: KeyCoding.typeURL(of: key.algorithm),
                        value: Data(KeyCoding.value(of: key)),
                        keyMaterialType: KeyCoding.materialType(of: key.algorithm).name
                    ),
                    status: key.status.name,
                    keyId: key.id,
                    outputPrefixType: key.prefix.name
                )
            }
        )
        return JSONText.of(form)
    }

    private struct JSONForm: Codable {
        var primaryKeyId: UInt32
        var key: [Key]

        struct Key: Codable {
            var keyData: KeyData?
            var status: String
            var keyId: UInt32
            var outputPrefixType: String
        }

        struct KeyData: Codable {
            var typeUrl: String
            var value: Data
            var keyMaterialType: String
        }
    }
}

/// JSON for the forms of this module, which contain only numbers and strings.
enum JSONText {
    static func of(_ form: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // These forms have no value that an encoder can refuse.
        return (try? encoder.encode(form)) ?? Data()
    }
}
#endif
