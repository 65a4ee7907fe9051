internal import KeelCBOR

/// An encoder of Swift values into documents.
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
/// | ``DocumentPath``, ``GeoPoint``, ``VectorValue`` | reference, geopoint, vector |
/// | ``DocumentValue``, ``DocumentFields`` | the value itself |
/// | structs, classes | map; nil properties are omitted |
/// | dictionaries whose keys are strings, `Int` or `CodingKeyRepresentable` | map |
/// | arrays, sets, other dictionaries | array |
/// | enumerations | as the compiler encodes them |
///
/// Equal values encode to equal bytes, except for sets and dictionaries that become arrays, whose order varies.
///
/// The encoder rejects an array or a vector directly in an array, integers above `Int64.max`, empty, reserved or too
/// long field names, invalid geopoints, vectors and references, more than 20 levels of maps and arrays, and more than 1
/// MiB.
public struct DocumentEncoder: Sendable {
    /// The options for encoding and decoding.
    public struct Configuration: Sendable {
        /// The mapping from coding keys to field names.
        public var keys: DocumentKeyStrategy
        /// The `userInfo` that `encode(to:)` and `init(from:)` receive.
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

    /// The options for encoding.
    public var configuration: Configuration

    /// Creates an encoder.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Encodes a value as the fields of a document.
    ///
    /// A ``ServerTimestamp`` that is nil is omitted.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``, with the field's path in the message;
    ///   ``StorageError/Code/tooLarge`` beyond 1 MiB or 20 levels.
    public func encode<T: Encodable>(_ value: T) throws(StorageError) -> DocumentBody {
        try encodeDocument(value).body
    }

    /// An encoded value with the transforms for the store.
    package struct EncodedDocument: Sendable {
        package let body: DocumentBody
        package let transforms: [FieldTransform]
        /// The id in the value's ``DocumentID``; nil without one.
        package let documentID: String?
        /// Whether the value has a ``DocumentID`` that is nil.
        package let hasNilID: Bool
    }

    /// Encodes a value for a write.
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
            documentID: context.documentID,
            hasNilID: context.hasNilID
        )
    }

    /// Encodes a value as a single field value, for a query constant or a field change.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``; ``StorageError/Code/tooLarge`` beyond 20 levels.
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
