internal import HTTPTypes
public import KeelHTTP
public import KeelSync

/// A request that can be stored in an outbox: an encoded endpoint.
///
/// ```swift
/// let write = try OutboxRequest(PutFavourite(dto)).write(key: "favourites/42")
/// ```
///
/// The fields `Authorization`, `Proxy-Authorization` and `Cookie` are omitted: the client signs the request on sending,
/// for the owner of the write; without an owner, for the user signed in at that time. A streamed body cannot be stored.
public struct OutboxRequest: Sendable, Hashable {
    static let kind = "http"

    let method: HTTPRequest.Method
    let path: String
    let query: String
    let headers: HTTPFields
    let body: [UInt8]

    /// Encodes an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - coding: The client's coding for the body, unless the endpoint has its own.
    /// - Throws: ``DataSourceError/Code/invalidRequest`` for an endpoint that cannot be stored.
    public init(
        _ endpoint: some ServiceEndpoint,
        coding: JSONCoding = .standard
    ) throws(DataSourceError) {
        guard let form = endpoint.path.encodedForm else {
            throw DataSourceError(
                .invalidRequest,
                "The path of the endpoint is invalid, or is an absolute URL."
            )
        }
        let codings = BodyCodings(endpoint.coding ?? coding, json: coding)
        method = endpoint.method
        path = form.path
        query = [form.query, endpoint.query.encoded].filter { !$0.isEmpty }.joined(separator: "&")
        var headers: HTTPFields = [:]
        headers[.contentType] = endpoint.body?.mediaType(in: codings)
        for field in endpoint.headers where !Self.secretFields.contains(field.name) {
            // Several fields of one name are stored as their list (RFC 9110 section 5.3).
            headers[field.name] = endpoint.headers[field.name]
        }
        self.headers = headers
        body = try Self.bytes(of: endpoint.body, codings)
    }

    private static let secretFields: Set<HTTPField.Name> = [
        .authorization, .proxyAuthorization, .cookie,
    ]

    private static func bytes(
        of body: RequestBody?,
        _ codings: BodyCodings
    ) throws(DataSourceError) -> [UInt8] {
        guard let body else { return [] }
        let made: HTTPBody
        do {
            made = try body.make(codings)
        } catch {
            throw DataSourceError(.invalidRequest, "The body cannot be encoded.", cause: error)
        }
        guard !body.isStreamed, let bytes = made.bytes else {
            throw DataSourceError(
                .invalidRequest,
                "A streamed body cannot be stored in an outbox."
            )
        }
        return bytes
    }

    /// Returns the request as a write for an outbox.
    ///
    /// - Parameters:
    ///   - key: The subject of the request: requests with the same key keep their order.
    ///   - owner: The only user for whom the request may be sent, such as the identity of an `AuthSession`; nil for the
    ///     user who is signed in when it is sent.
    ///   - id: A unique id.
    /// - Returns: The write.
    public func write(
        key: String,
        owner: String? = nil,
        id: String = OutboxWrite.randomID()
    ) -> OutboxWrite {
        var attributes = ["method": method.rawValue, "path": path, "query": query]
        for field in headers { attributes["header:\(field.name.rawName)"] = field.value }
        return OutboxWrite(
            key: key,
            kind: Self.kind,
            attributes: attributes,
            body: body,
            owner: owner,
            id: id
        )
    }

    /// Decodes the result of ``write(key:owner:id:)``; nil for other writes.
    init?(_ write: OutboxWrite) {
        guard write.kind == Self.kind, let path = write.attributes["path"],
            let method = write.attributes["method"].flatMap(HTTPRequest.Method.init(rawValue:))
        else { return nil }
        self.method = method
        self.path = path
        query = write.attributes["query"] ?? ""
        var headers: HTTPFields = [:]
        for (name, value) in write.attributes where name.hasPrefix("header:") {
            guard let name = HTTPField.Name(String(name.dropFirst("header:".count))) else {
                continue
            }
            headers[name] = value
        }
        self.headers = headers
        body = write.body
    }
}
