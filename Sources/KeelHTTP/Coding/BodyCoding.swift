/// Writes values as the bodies of requests, and reads values from the bodies of responses.
///
/// ``JSONCoding`` is the usual one, and ``FoundationJSONCoding`` takes a decoder and an encoder of
/// your own. Conform a type for another format, and give it to a client
/// (``NetworkClient/Configuration/coding``) or to an endpoint (``ServiceEndpoint/coding``):
///
/// ```swift
/// struct PropertyListCoding: BodyCoding {
///     var mediaType: String { "application/x-plist" }
///
///     func encode(_ value: some Encodable) throws -> [UInt8] {
///         Array(try PropertyListEncoder().encode(value))
///     }
///
///     func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
///         try PropertyListDecoder().decode(type, from: Data(bytes))
///     }
/// }
/// ```
///
/// Many calls use a coding at once, and away from the caller's actor.
public protocol BodyCoding: Sendable {
    /// The media type: the `Content-Type` of encoded bodies, and the `Accept` of calls whose answer
    /// is decoded.
    var mediaType: String { get }

    /// Returns the bytes of a value.
    ///
    /// - Throws: An error that makes a call fail with ``NetworkError/Code/encoding``.
    func encode(_ value: some Encodable) throws -> [UInt8]

    /// Returns the value that the bytes stand for.
    ///
    /// - Throws: An error that makes a call fail with ``NetworkError/Code/decoding``. A
    ///   `DecodingError` lets the call's error name the place in the body.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

extension JSONCoding: BodyCoding {
    public var mediaType: String { "application/json" }
}

/// The codings of one call: the one of its values, and the one for what is JSON in any case.
package struct BodyCodings: Sendable {
    package let values: any BodyCoding
    package let json: any BodyCoding

    /// Creates codings from one for values, and one for JSON where the first is of another format.
    package init(_ values: any BodyCoding, json: @autoclosure () -> any BodyCoding) {
        self.values = values
        self.json = values.isJSON ? values : json()
    }
}

extension BodyCoding {
    /// Whether the format is JSON, under its own name or with the suffix of RFC 6839.
    var isJSON: Bool {
        let name = mediaType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return name == "application/json" || name.hasSuffix("+json")
    }
}
