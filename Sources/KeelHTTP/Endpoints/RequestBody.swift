#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an endpoint sends, before the client has encoded it.
public struct RequestBody: Sendable {
    /// The media type that is sent unless the endpoint's headers name another.
    public let contentType: String?

    /// Whether the bytes come from elsewhere while they are sent.
    package let isStreamed: Bool

    package let make: @Sendable (JSONCoding) throws -> HTTPBody

    private init(
        contentType: String?,
        isStreamed: Bool = false,
        make: @escaping @Sendable (JSONCoding) throws -> HTTPBody
    ) {
        self.contentType = contentType
        self.isStreamed = isStreamed
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

    /// A text in UTF-8.
    public static func text(
        _ text: String,
        contentType: String = "text/plain; charset=utf-8"
    ) -> RequestBody {
        bytes(text.utf8, contentType: contentType)
    }

    /// Names and values as an HTML form sends them (`application/x-www-form-urlencoded`).
    public static func form(_ fields: HTTPQuery) -> RequestBody {
        let body = HTTPBody(Array(fields.encoded.utf8))
        return RequestBody(contentType: "application/x-www-form-urlencoded") { _ in body }
    }

    /// Fields and files as an HTML form sends them (`multipart/form-data`).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        let encoder = MultipartEncoder(form)
        let isStreamed = form.parts.contains { part in
            switch part.content {
            case .bytes, .value: false
            case .file, .stream: true
            }
        }
        return RequestBody(contentType: encoder.contentType, isStreamed: isStreamed) { coding in
            try encoder.body(coding)
        }
    }

    /// A file that is read from disk while it is sent, see ``HTTPBody/file(_:)``.
    ///
    /// A call fails with ``NetworkError/Code/file`` if the file cannot be opened.
    public static func file(
        _ url: URL,
        contentType: String = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(contentType: contentType, isStreamed: true) { _ in try HTTPBody.file(url) }
    }

    /// A body that is produced while it is sent.
    public static func stream(_ body: HTTPBody, contentType: String) -> RequestBody {
        RequestBody(contentType: contentType, isStreamed: true) { _ in body }
    }
}
