#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The body of an endpoint's request, before the client encodes it.
public struct RequestBody: Sendable {
    /// The media type, unless the endpoint's headers set another; nil for that of the coding of ``value(_:)``.
    public let contentType: String?

    /// Whether the bytes are read or produced while they are sent.
    package let isStreamed: Bool

    package let make: @Sendable (BodyCodings) throws -> HTTPBody

    private let kind: Kind

    private enum Kind: Sendable {
        case made
        case json
        case value
    }

    private init(
        contentType: String?,
        isStreamed: Bool = false,
        kind: Kind = .made,
        make: @escaping @Sendable (BodyCodings) throws -> HTTPBody
    ) {
        self.contentType = contentType
        self.isStreamed = isStreamed
        self.kind = kind
        self.make = make
    }

    package func mediaType(in codings: BodyCodings) -> String? {
        switch kind {
        case .made: contentType
        case .json: codings.json.mediaType
        case .value: codings.values.mediaType
        }
    }

    /// Creates a body with a value as JSON.
    ///
    /// It uses the endpoint's or the client's coding if that is JSON, and ``NetworkClient/Configuration/json``
    /// otherwise.
    public static func json(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(contentType: "application/json", kind: .json) { codings in
            HTTPBody(try codings.json.encode(value))
        }
    }

    /// Creates a body with a value in the coding of the endpoint or the client, in any format.
    ///
    /// See ``ServiceEndpoint/coding`` and ``NetworkClient/Configuration/coding``.
    public static func value(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(contentType: nil, kind: .value) { codings in
            HTTPBody(try codings.values.encode(value))
        }
    }

    /// Creates a body of bytes.
    public static func bytes(
        _ bytes: some Sequence<UInt8>,
        contentType: String = "application/octet-stream"
    ) -> RequestBody {
        let body = HTTPBody(Array(bytes))
        return RequestBody(contentType: contentType) { _ in body }
    }

    /// Creates a body of UTF-8 text.
    public static func text(
        _ text: String,
        contentType: String = "text/plain; charset=utf-8"
    ) -> RequestBody {
        bytes(text.utf8, contentType: contentType)
    }

    /// Creates a body of names and values in the format of HTML forms (`application/x-www-form-urlencoded`).
    public static func form(_ fields: HTTPQuery) -> RequestBody {
        let body = HTTPBody(Array(fields.encoded.utf8))
        return RequestBody(contentType: "application/x-www-form-urlencoded") { _ in body }
    }

    /// Creates a body of fields and files in the format of HTML forms (`multipart/form-data`).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        let encoder = MultipartEncoder(form)
        let isStreamed = form.parts.contains { part in
            switch part.content {
            case .bytes, .value: false
            case .file, .stream: true
            }
        }
        return RequestBody(contentType: encoder.contentType, isStreamed: isStreamed) { codings in
            try encoder.body(codings.json)
        }
    }

    /// Creates a body from a file that is read from disk while it is sent; see ``HTTPBody/file(_:)``.
    ///
    /// A call fails with ``NetworkError/Code/file`` if the file cannot be opened.
    public static func file(
        _ url: URL,
        contentType: String = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(contentType: contentType, isStreamed: true) { _ in try HTTPBody.file(url) }
    }

    /// Creates a body that is produced while it is sent.
    public static func stream(_ body: HTTPBody, contentType: String) -> RequestBody {
        RequestBody(contentType: contentType, isStreamed: true) { _ in body }
    }
}
