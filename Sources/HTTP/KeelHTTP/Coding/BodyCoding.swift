/// A type that encodes values as request bodies and decodes values from response bodies.
///
/// ``JSONCoding`` is the default, and ``FoundationJSONCoding`` takes your own encoder and decoder. Conform a type for
/// another format, and set it on a client (``NetworkClient/Configuration/coding``) or an endpoint
/// (``ServiceEndpoint/coding``):
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
/// Calls use a coding concurrently, off the caller's actor.
public protocol BodyCoding: Sendable {
    /// The media type: the `Content-Type` of encoded bodies, and the `Accept` of calls whose response is decoded.
    var mediaType: String { get }

    /// Returns the encoded bytes of a value.
    ///
    /// - Throws: The cause of the call's ``NetworkError/Code/encoding``.
    func encode(_ value: some Encodable) throws -> [UInt8]

    /// Returns the value that the bytes encode.
    ///
    /// - Throws: The cause of the call's ``NetworkError/Code/decoding``. With a `DecodingError`, the call's error names
    ///   the place in the body.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

extension JSONCoding: BodyCoding {
    public var mediaType: String { "application/json" }
}

/// The codings of one call: one for its values, and one for parts that are always JSON.
package struct BodyCodings: Sendable {
    package let values: any BodyCoding
    package let json: any BodyCoding

    /// Creates codings; `json` is used only if `values` is of another format.
    package init(_ values: any BodyCoding, json: @autoclosure () -> any BodyCoding) {
        self.values = values
        self.json = values.isJSON ? values : json()
    }
}

extension BodyCoding {
    /// Whether the format is JSON, by its name or the `+json` suffix (RFC 6839).
    var isJSON: Bool {
        let name = mediaType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return name == "application/json" || name.hasSuffix("+json")
    }
}
