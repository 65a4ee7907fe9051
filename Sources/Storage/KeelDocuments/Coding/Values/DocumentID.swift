#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A property wrapper for the id of the document that stores a value.
///
/// ```swift
/// struct Restaurant: Codable {
///     @DocumentID var id: String?
///     var name: String
/// }
/// ```
///
/// Decoding a document sets the property to the document's id, whatever the fields contain; encoding omits it from the
/// fields. Use it in the outermost type. Other formats, such as JSON, contain the id as a string, or null.
@propertyWrapper
public struct DocumentID<Value: DocumentIDRepresentable> {
    /// The id; nil if no document stores the value yet.
    public var wrappedValue: Value

    /// Creates the wrapper with an id.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    // No `init()`: with it, memberwise initializers would take the wrapper instead of the id.
}

extension DocumentID: Sendable where Value: Sendable {}
extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}

extension DocumentID: FieldlessDecodable {}

extension DocumentID: Codable {
    /// Decodes the id of the document being decoded.
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
                ? "there is no document to take the id from; make the property optional"
                : "the document’s id is not a valid \(Value.self)"
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

    /// Omits the field from a document; writes the id to other formats.
    public func encode(to encoder: any Encoder) throws {
        if let frame = encoder as? EncodingFrame {
            if frame.depth == 1 {
                let id = wrappedValue.documentID
                frame.sink.context.documentID = id
                frame.sink.context.hasNilID = id == nil
            }
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
    /// Decodes the wrapper, even if the field is missing.
    public func decode<Value>(
        _ type: DocumentID<Value>.Type,
        forKey key: Key
    ) throws -> DocumentID<Value> {
        try DocumentID(from: superDecoder(forKey: key))
    }
}

/// A type that can represent a document's id.
///
/// A `RawRepresentable` type over `String` only needs to declare the conformance.
public protocol DocumentIDRepresentable {
    /// Creates a value from an id; nil if the type cannot represent the id.
    init?(documentID: String)
    /// The id; nil if no document stores the value yet.
    var documentID: String? { get }
    /// The value for a missing id, as of optionals; nil if there is none.
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

extension UUID: DocumentIDRepresentable {
    public init?(documentID: String) { self.init(uuidString: documentID) }
    public var documentID: String? { uuidString }
}

extension DocumentEncoder {
    /// Returns the id of a value, from its ``DocumentID`` or `Identifiable`; nil without one.
    package static func documentID(
        of value: some Any,
        encoded: EncodedDocument
    ) -> String? {
        if let id = encoded.documentID { return id }
        guard let value = value as? any Identifiable else { return nil }
        return id(of: value)
    }

    /// Returns whether a value is `Identifiable` and its id is nil, as that of a value that no document stores yet.
    package static func hasNilID(_ value: some Any, encoded: EncodedDocument) -> Bool {
        guard let value = value as? any Identifiable else { return false }
        return encoded.hasNilID || isNil(idOf: value)
    }

    private static func isNil(idOf value: some Identifiable) -> Bool {
        let id: Any = value.id
        if let id = id as? any DocumentIDRepresentable { return id.documentID == nil }
        return (id as? any Nullable)?.isNil ?? false
    }

    private static func id(of value: some Identifiable) -> String? {
        let id: Any = value.id
        if let id = id as? any DocumentIDRepresentable { return id.documentID }
        return (id as? any LosslessStringConvertible)?.description
    }
}

private protocol Nullable {
    var isNil: Bool { get }
}

extension Optional: Nullable {
    fileprivate var isNil: Bool { self == nil }
}
