#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A time that the store sets when it writes the document.
///
/// ```swift
/// struct Note: Codable {
///     var text: String
///     @ServerTimestamp var changed: Date?
/// }
/// ```
///
/// While it is nil, writing the value makes the store fill in the time of the commit; a time that
/// is set is written as it is. To have it filled anew, set it to nil before writing. It can be a
/// field of the document or of a map in it, not an element of an array.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampRepresentable> {
    /// The time; nil to have the store set it.
    public var wrappedValue: Value?

    /// Creates the wrapper with a time, or nil to have the store set it.
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension ServerTimestamp: Sendable where Value: Sendable {}
extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}

extension ServerTimestamp: FieldlessDecodable {}

extension ServerTimestamp: Codable {
    /// Reads the stored time; nil where there is none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Writes the time, or asks the store for it.
    public func encode(to encoder: any Encoder) throws {
        if wrappedValue == nil, let frame = encoder as? EncodingFrame {
            guard !frame.isWithinArray else { throw frame.flaw(CodingWords.timestampInArray) }
            frame.sink.context.transforms.append(
                FieldTransform(frame.fieldPath, .serverTimestamp)
            )
            frame.omit()
            return
        }
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes the wrapper also where other formats have no such field.
    public func decode<Value>(
        _ type: ServerTimestamp<Value>.Type,
        forKey key: Key
    ) throws -> ServerTimestamp<Value> {
        try decodeIfPresent(type, forKey: key) ?? ServerTimestamp(wrappedValue: nil)
    }
}

/// A type that holds a time that the store sets: `Date` or ``Timestamp``.
public protocol ServerTimestampRepresentable: Codable {}

extension Date: ServerTimestampRepresentable {}
extension Timestamp: ServerTimestampRepresentable {}
