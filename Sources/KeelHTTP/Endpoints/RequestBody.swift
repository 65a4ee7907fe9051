/// What an endpoint sends, before the client has encoded it.
public struct RequestBody: Sendable {
    /// The media type that is sent unless the endpoint's headers name another.
    public let contentType: String?

    let make: @Sendable (JSONCoding) throws -> HTTPBody

    private init(
        contentType: String?,
        make: @escaping @Sendable (JSONCoding) throws -> HTTPBody
    ) {
        self.contentType = contentType
        self.make = make
    }

    /// A value as JSON, in the client's ``JSONCoding``.
    public static func json(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(contentType: "application/json") { coding in
            HTTPBody(try coding.encode(value))
        }
    }

    /// Bytes as they are.
    public static func bytes(
        _ bytes: some Sequence<UInt8>,
        contentType: String = "application/octet-stream"
    ) -> RequestBody {
        let body = HTTPBody(Array(bytes))
        return RequestBody(contentType: contentType) { _ in body }
    }

    /// Names and values as an HTML form sends them (`application/x-www-form-urlencoded`).
    public static func form(_ fields: HTTPQuery) -> RequestBody {
        let body = HTTPBody(Array(fields.encoded.utf8))
        return RequestBody(contentType: "application/x-www-form-urlencoded") { _ in body }
    }

    /// A body that is produced while it is sent.
    public static func stream(_ body: HTTPBody, contentType: String) -> RequestBody {
        RequestBody(contentType: contentType) { _ in body }
    }
}
