#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A property wrapper for a time that the store sets when it writes the document.
///
/// ```swift
/// struct Note: Codable {
///     var text: String
///     @ServerTimestamp var changed: Date?
/// }
/// ```
///
/// If the property is nil, the store fills in the clock time of the commit, truncated to milliseconds; otherwise it
/// stores the property's value. To update the time, set the property to nil before writing. It cannot be nil anywhere
/// within an array.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampRepresentable> {
    /// The time; nil to let the store set it.
    public var wrappedValue: Value?

    /// Creates the wrapper.
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension ServerTimestamp: Sendable where Value: Sendable {}
extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}

extension ServerTimestamp: FieldlessDecodable {}

extension ServerTimestamp: Codable {
    /// Decodes the stored time; nil if it is missing or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Encodes the time, or a transform that asks the store to set it.
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
    /// Decodes the wrapper, even if the field is missing.
    public func decode<Value>(
        _ type: ServerTimestamp<Value>.Type,
        forKey key: Key
    ) throws -> ServerTimestamp<Value> {
        try decodeIfPresent(type, forKey: key) ?? ServerTimestamp(wrappedValue: nil)
    }
}

/// A type of times that the store can set: `Date` or ``Timestamp``.
public protocol ServerTimestampRepresentable: Codable {}

extension Date: ServerTimestampRepresentable {}
extension Timestamp: ServerTimestampRepresentable {}
