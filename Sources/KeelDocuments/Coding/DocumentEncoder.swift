internal import KeelCore

/// Turns Swift values into documents.
///
/// ```swift
/// struct Restaurant: Codable {
///     @DocumentID var id: String?
///     var name: String
///     var opened: Date
///     @ServerTimestamp var changed: Date?
/// }
/// let body = try DocumentEncoder().encode(restaurant)
/// ```
///
/// | Swift | document |
/// |---|---|
/// | `Bool`, integers, `String` | boolean, integer, string |
/// | `Double`, `Float` | double |
/// | `Date`, ``Timestamp`` | timestamp, in microseconds |
/// | `Data`, `[UInt8]` | bytes |
/// | `URL`, `UUID`, `Decimal` | string |
/// | ``DocumentPath``, ``GeoPoint`` | reference, geopoint |
/// | ``DocumentValue``, ``DocumentFields`` | the value itself |
/// | structs, classes, dictionaries | map; a nil property is left out |
/// | arrays, sets | array |
/// | enumerations | as the compiler encodes them |
///
/// Equal values give equal bytes, dictionaries included. An array directly in an array, an integer
/// above `Int64.max` and an empty or reserved field name are refused, as are more than 20 levels of
/// maps and arrays and more than 1 MiB.
public struct DocumentEncoder: Sendable {
    /// The choices about encoding.
    public struct Configuration: Sendable {
        /// How coding keys become field names.
        public var keys: DocumentKeyStrategy
        /// The `userInfo` that `encode(to:)` finds in its encoder.
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

    /// The choices about encoding.
    public var configuration: Configuration

    /// Creates an encoder.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Encodes a value as the fields of a document.
    ///
    /// A ``ServerTimestamp`` that is nil is left out: only a write to a store can fill it.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``, with the field's path in the message;
    ///   ``StorageError/Code/tooLarge`` beyond 1 MiB or 20 levels.
    public func encode<T: Encodable>(_ value: T) throws(StorageError) -> DocumentBody {
        try encodeDocument(value).body
    }

    /// A value in the form of a write.
    package struct EncodedDocument: Sendable {
        /// The fields.
        package let body: DocumentBody
        /// The fields that the store is to compute.
        package let transforms: [FieldTransform]
        /// What the value's ``DocumentID`` holds, nil without one.
        package let documentID: String?
    }

    /// Encodes a value, and tells which fields the store is to compute and which id it has.
    package func encodeDocument<T: Encodable>(
        _ value: T
    ) throws(StorageError) -> EncodedDocument {
        let context = context
        let bytes = try bytes(of: value, context)
        guard let first = bytes.first, first >> 5 == 5 else {
            let flaw = CodingFlaw(code: .encodingFailed, words: CodingWords.noMap)
            throw StorageError(.encodingFailed, "\(T.self): \(flaw.words)", cause: flaw)
        }
        guard bytes.count <= DocumentBody.longest else {
            throw StorageError(.tooLarge, "\(T.self): \(CodingWords.tooLarge)")
        }
        return EncodedDocument(
            body: DocumentBody(bytes: bytes),
            transforms: context.transforms,
            documentID: context.documentID
        )
    }

    /// Encodes a value as what one field can hold, for the constant of a query or a field change.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``.
    public func encodeValue<T: Encodable>(_ value: T) throws(StorageError) -> DocumentValue {
        if let value = value as? DocumentValue { return value }
        var reader = CBORReader(try bytes(of: value, context))
        do throws(CBORError) {
            return try reader.readValue()
        } catch {
            throw StorageError(.encodingFailed, "\(T.self) cannot be encoded", cause: error)
        }
    }

    private var context: EncodingContext {
        EncodingContext(keys: configuration.keys, userInfo: configuration.userInfo)
    }

    private func bytes<T: Encodable>(
        of value: T,
        _ context: EncodingContext
    ) throws(StorageError) -> [UInt8] {
        let sink = EncodingSink(context: context, capacity: 512)
        do {
            let frame = EncodingFrame(sink, parent: nil, step: .root)
            try frame.encodeWhole(value)
            sink.active = frame.serial
            return try frame.finishedBytes()
        } catch {
            throw StorageError(encoding: T.self, error)
        }
    }
}
