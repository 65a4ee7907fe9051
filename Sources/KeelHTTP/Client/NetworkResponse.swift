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

    /// The bytes of the body, empty where there is none.
    public var body: [UInt8]

    /// What the layers that the response passed say about it; no part of its equality.
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

    /// The media type of the body in small letters, without parameters.
    public var mediaType: String? {
        head.headerFields[.contentType].map { field in
            field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
    }

    /// The bytes of the body as Foundation's type.
    public var data: Data { Data(body) }

    /// Decodes the body as JSON.
    ///
    /// - Throws: Whatever the decoding of `type` throws, usually a `DecodingError`.
    public func decode<Value: Decodable>(
        as type: Value.Type,
        coding: JSONCoding = .standard
    ) throws -> Value {
        try coding.decode(type, from: body)
    }
}

extension NetworkResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the size: field values and contents are kept out of logs.
    public var description: String { "\(head.status.code), \(body.count) bytes" }

    public var customMirror: Mirror {
        Mirror(self, children: ["status": head.status.code, "bytes": body.count])
    }
}
