internal import KeelCore

/// Makes Swift values of documents.
///
/// It reads the document's bytes where they lie. ``DocumentEncoder`` says which Swift type meets
/// which kind of value; reading is a little wider than writing:
///
/// - an integer decodes as a `Double`, and a double without a fraction as an integer type;
/// - an optional property is nil where the field is missing or null;
/// - a ``DocumentID`` is the document's id, whatever its fields say.
public struct DocumentDecoder: Sendable {
    /// The choices about decoding.
    public struct Configuration: Sendable {
        /// How coding keys become field names; as the encoder had it.
        public var keys: DocumentKeyStrategy
        /// The `userInfo` that `init(from:)` finds in its decoder.
        public var userInfo: [CodingUserInfoKey: any Sendable]

        /// Creates a configuration.
        public init(
            keys: DocumentKeyStrategy = .asIs,
            userInfo: [CodingUserInfoKey: any Sendable] = [:]
        ) {
            self.keys = keys
            self.userInfo = userInfo
        }
    }

    /// The choices about decoding.
    public var configuration: Configuration

    /// Creates a decoder.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Decodes a document.
    ///
    /// - Throws: ``StorageError/Code/decodingFailed``, with the field's path in the message;
    ///   ``StorageError/Code/corrupted`` if the bytes are no document.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        from document: Document
    ) throws(StorageError) -> T {
        try decode(type, from: document.body, at: document.path)
    }

    /// Decodes fields that belong to no document; a ``DocumentID`` that must not be nil fails.
    ///
    /// - Throws: As `decode(_:from:)` does for a document.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        from body: DocumentBody
    ) throws(StorageError) -> T {
        try decode(type, from: body.bytes, at: nil)
    }

    /// Decodes fields as those of the document at a path, such as one that was just created.
    package func decode<T: Decodable>(
        _ type: T.Type = T.self,
        from body: DocumentBody,
        at path: DocumentPath
    ) throws(StorageError) -> T {
        do throws(StorageError) {
            return try decode(type, from: body.bytes, at: path)
        } catch {
            throw error.during("decode", on: path.string)
        }
    }

    /// Decodes one value, such as a field or the result of an aggregation.
    ///
    /// - Throws: As `decode(_:from:)` does for a document.
    public func decodeValue<T: Decodable>(
        _ type: T.Type = T.self,
        from value: DocumentValue
    ) throws(StorageError) -> T {
        var writer = CBORWriter()
        writer.value(value)
        return try decode(type, from: writer.bytes, at: nil)
    }

    private func decode<T: Decodable>(
        _ type: T.Type,
        from bytes: [UInt8],
        at path: DocumentPath?
    ) throws(StorageError) -> T {
        // Places in the bytes are kept in 32 bits.
        guard bytes.count < Int32.max else {
            throw StorageError(.tooLarge, "a document’s body cannot be larger than 1 MiB")
        }
        let source = DecodingSource(
            bytes,
            keys: configuration.keys,
            userInfo: configuration.userInfo,
            path: path
        )
        do {
            return try source.decode(type, at: 0)
        } catch {
            throw StorageError(decoding: T.self, error)
        }
    }
}
