internal import KeelCBOR

/// A decoder of documents into Swift values.
///
/// ``DocumentEncoder`` lists the Swift type for each kind of value; decoding accepts slightly more:
///
/// - An integer decodes as a `Double` or `Decimal`, and a double without a fraction as an integer type.
/// - An optional property is nil if the field is missing or null.
public struct DocumentDecoder: Sendable {
    /// The options for decoding.
    public typealias Configuration = DocumentEncoder.Configuration

    /// The options for decoding.
    public var configuration: Configuration

    /// Creates a decoder.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Decodes a document.
    ///
    /// - Throws: ``StorageError/Code/decodingFailed``, with the field's path in the message;
    ///   ``StorageError/Code/corrupted`` if the bytes are not an encoded document.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        from document: Document
    ) throws(StorageError) -> T {
        try decode(type, from: document.body, at: document.path)
    }

    /// Decodes fields without a document, where a ``DocumentID`` must be optional.
    ///
    /// - Throws: The errors of `decode(_:from:)` for a document.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        from body: DocumentBody
    ) throws(StorageError) -> T {
        try decode(type, from: body.bytes, at: nil)
    }

    /// Decodes fields as if they were stored at a path.
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
    /// - Throws: The errors of `decode(_:from:)` for a document.
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
        // The readers store offsets as 32-bit integers.
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
