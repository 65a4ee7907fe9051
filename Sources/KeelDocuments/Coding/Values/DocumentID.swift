/// The id of the document that a value is stored in.
///
/// ```swift
/// struct Restaurant: Codable {
///     @DocumentID var id: String?
///     var name: String
/// }
/// ```
///
/// Decoding a document fills it with the document's id, whatever the fields say; encoding leaves
/// it out of the fields. It belongs into the outermost type. Other formats, such as JSON, read and
/// write it as an ordinary value.
@propertyWrapper
public struct DocumentID<Value: DocumentIDRepresentable> {
    /// The id; nil for a value that no document holds yet.
    public var wrappedValue: Value

    /// Creates the wrapper with an id.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    // No `init()`: with one, memberwise initialisers would take the wrapper instead of the id.
}

extension DocumentID: Sendable where Value: Sendable {}
extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}

extension DocumentID: FieldlessDecodable {}

extension DocumentID: Codable {
    /// Takes the id of the document that is decoded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text: String?
        if let reader = container as? ValueReader {
            text = reader.source.path?.id
        } else {
            text = container.decodeNil() ? nil : try container.decode(String.self)
        }
        let value = text.map(Value.init(documentID:)) ?? Value.withoutDocumentID
        guard let value else {
            let words =
                text == nil
                ? "there is no document whose id it could be; make the property optional"
                : "the document’s id is no \(Value.self)"
            let flaw = CodingFlaw(code: .decodingFailed, words: words)
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: words,
                    underlyingError: flaw
                )
            )
        }
        wrappedValue = value
    }

    /// Leaves the field out of a document.
    public func encode(to encoder: any Encoder) throws {
        if let frame = encoder as? EncodingFrame {
            if frame.depth == 1 { frame.sink.context.documentID = wrappedValue.documentID }
            frame.omit()
            return
        }
        var container = encoder.singleValueContainer()
        if let id = wrappedValue.documentID {
            try container.encode(id)
        } else {
            try container.encodeNil()
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes the wrapper also where other formats have no such field.
    public func decode<Value>(
        _ type: DocumentID<Value>.Type,
        forKey key: Key
    ) throws -> DocumentID<Value> {
        try DocumentID(from: superDecoder(forKey: key))
    }
}

/// A type that can stand for a document's id: `String`, `Int`, `UUID`, their optionals, and
/// `RawRepresentable` types over `String` that declare the conformance.
public protocol DocumentIDRepresentable {
    /// Creates a value from an id; nil if the id is not in the type's form.
    init?(documentID: String)
    /// The id; nil for a value that no document holds yet.
    var documentID: String? { get }
    /// The value that stands for no id, if the type has one.
    static var withoutDocumentID: Self? { get }
}

extension DocumentIDRepresentable {
    public static var withoutDocumentID: Self? { nil }
}

extension DocumentIDRepresentable where Self: RawRepresentable, RawValue == String {
    public init?(documentID: String) { self.init(rawValue: documentID) }
    public var documentID: String? { rawValue }
}

extension String: DocumentIDRepresentable {
    public init?(documentID: String) { self = documentID }
    public var documentID: String? { self }
}

extension Int: DocumentIDRepresentable {
    public init?(documentID: String) { self.init(documentID) }
    public var documentID: String? { String(self) }
}

extension Optional: DocumentIDRepresentable where Wrapped: DocumentIDRepresentable {
    public init?(documentID: String) {
        guard let wrapped = Wrapped(documentID: documentID) else { return nil }
        self = .some(wrapped)
    }
    public var documentID: String? { flatMap(\.documentID) }
    public static var withoutDocumentID: Self? { .some(.none) }
}
