/// A value being decoded: the `Decoder` that its `init(from:)` receives.
struct ValueDecoder: Decoder {
    let source: DecodingSource
    /// The offset of the value; for a missing value, `~offset` of the enclosing value, which is negative.
    let offset: Int
    var keepsKeys = false

    var codingPath: [any CodingKey] { source.codingPath(to: offset < 0 ? ~offset : offset) }
    var userInfo: [CodingUserInfoKey: Any] { source.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard offset >= 0 else { throw missing("a map") }
        return KeyedDecodingContainer(
            try KeyedFieldReader<Key>(source, at: offset, keepsKeys: keepsKeys)
        )
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard offset >= 0 else { throw missing("an array") }
        return try ElementReader(source, at: offset)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ValueReader(source: source, offset: offset, keepsKeys: keepsKeys)
    }

    private func missing(_ wanted: String) -> DecodingError {
        .valueNotFound(
            DocumentValue.self,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "expected \(wanted), found nothing"
            )
        )
    }
}
