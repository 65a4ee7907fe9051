public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A complete response: its head and all bytes of its body.
public struct NetworkResponse: Sendable, Hashable {
    /// The status and the header fields.
    public var head: HTTPResponse

    /// The bytes of the body; empty if there is none.
    public var body: [UInt8]

    /// Notes of the layers that the response passed; equality ignores them.
    public var notes = HTTPReplyNotes()

    /// Creates a response.
    public init(head: HTTPResponse, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.head == other.head && one.body == other.body
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(head)
        hasher.combine(body)
    }

    /// The status.
    public var status: HTTPResponse.Status { head.status }

    /// The media type of the body in lowercase, without parameters; nil without a `Content-Type`.
    public var mediaType: String? {
        head.headerFields[.contentType].map { field in
            field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
    }

    /// The bytes of the body.
    public var data: Data { Data(body) }

    /// Decodes the body as JSON.
    ///
    /// - Throws: The error of the decoder, usually a `DecodingError`.
    public func decode<Value: Decodable>(
        as type: Value.Type,
        coding: JSONCoding = .standard
    ) throws -> Value {
        try coding.decode(type, from: body)
    }
}

extension NetworkResponse {
    /// Returns the decoded body of a response with a status from 200 to 299.
    ///
    /// ``EmptyResponse`` accepts any body, and an optional accepts an empty one. The bodies of error responses are
    /// decoded as `errorBodies`; the declarations of the endpoint and the client do not count.
    ///
    /// - Throws: ``NetworkError`` for any other status and for a body that cannot be decoded.
    public func value<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        coding: JSONCoding = .standard,
        errorBodies: [ErrorBody] = []
    ) throws(NetworkError) -> Value {
        try value(as: type, using: coding, errorBodies: errorBodies)
    }

    /// Returns the decoded body of a response with a status from 200 to 299, in any format.
    ///
    /// See ``value(as:coding:errorBodies:)``. If `coding` is not JSON, error responses are decoded as standard JSON.
    ///
    /// - Throws: ``NetworkError`` for any other status and for a body that cannot be decoded.
    public func value<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        using coding: any BodyCoding,
        errorBodies: [ErrorBody] = []
    ) throws(NetworkError) -> Value {
        let codings = BodyCodings(coding, json: JSONCoding.standard)
        if let refusal = NetworkError(
            errorResponse: self,
            url: nil,
            declared: errorBodies,
            coding: codings.json
        ) {
            throw refusal
        }
        return try decoded(as: type, coding, url: nil)
    }

    func decoded<Value: Decodable & Sendable>(
        as type: Value.Type,
        _ coding: any BodyCoding,
        url: String?
    ) throws(NetworkError) -> Value {
        if let empty = EmptyResponse() as? Value { return empty }
        guard !body.isEmpty else {
            if let none = (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()),
                let value = none as? Value
            {
                return value
            }
            throw NetworkError(.noData, response: self, url: url)
        }
        do {
            return try coding.decode(type, from: body)
        } catch {
            throw NetworkError(undecodable: self, url: url, cause: error)
        }
    }
}

extension NetworkResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the size; field values and contents are kept out of logs.
    public var description: String { "\(head.status.code), \(body.count) bytes" }

    public var customMirror: Mirror {
        Mirror(self, children: ["status": head.status.code, "bytes": body.count])
    }
}
