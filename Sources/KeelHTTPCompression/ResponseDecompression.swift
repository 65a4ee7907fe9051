internal import HTTPTypes
public import KeelHTTP

/// Asks for compressed responses and decodes them while they are read.
///
/// Clients over `AsyncHTTPClientTransport` have one without being told, see its configuration, and
/// the system decodes below `URLSessionTransport`. For another transport:
///
/// ```swift
/// configuration.attemptMiddleware.append(ResponseDecompression(for: transport.features))
/// ```
///
/// It knows `gzip` and `deflate`. The reply loses the fields `Content-Encoding` and
/// `Content-Length`, which belong to the compressed form. Passed on as they are, with their
/// responses, are
///
/// - a call that names an `Accept-Encoding` of its own, or a `Range`, whose bytes are counted in the
///   form that the server sends;
/// - a `HEAD`, which so tells the length that the body really has;
/// - a download whose progress somebody watches: the length of the compressed form would say nothing
///   about how far it is.
///
/// Where the transport does not hand bodies on as the server sent them
/// (`HTTPTransportFeatures.rawContentCoding`), the layer does nothing: the system decodes already.
///
/// A cache stands above the layer: it keeps the decoded body under the entity tag of the compressed
/// one, asks the server about it by that tag, and cuts ranges from the decoded body. A `Vary` that
/// names `Accept-Encoding` makes no difference to it.
///
/// Bodies fail with `decompressionFailed` where they are not what they claim to be or end early,
/// and with `decompressionLimit` where they grow out of proportion.
public struct ResponseDecompression: HTTPMiddleware, DeadlineKeeping {
    private let limits: DecompressionLimits
    private let isActive: Bool

    /// Creates the layer for a transport with these features.
    public init(
        for features: HTTPTransportFeatures,
        limits: DecompressionLimits = DecompressionLimits()
    ) {
        self.limits = limits
        isActive = features.contains(.rawContentCoding)
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard isActive, call.head.method != .head, call.options.downloadObserver == nil,
            call.head.headerFields[.acceptEncoding] == nil, call.head.headerFields[.range] == nil
        else { return try await next(call) }
        var asking = call
        asking.head.headerFields[.acceptEncoding] = "gzip, deflate"
        let reply = try await next(asking)
        return decoded(reply)
    }

    private func decoded(_ reply: HTTPReply) -> HTTPReply {
        let status = reply.head.status.code
        guard status != 204, status != 304, status != 206,
            let value = reply.head.headerFields[.contentEncoding],
            let codings = ContentCoding.list(value)
        else { return reply }
        var decoded = reply
        for coding in codings.reversed() {
            let decoder = BodyDecoder(coding, limits: limits)
            decoded.body = decoded.body.mapReads { read async throws(TransportError) in
                try await decoder.next(from: read)
            }
        }
        decoded.head.headerFields[.contentEncoding] = nil
        if !codings.isEmpty { decoded.head.headerFields[.contentLength] = nil }
        return decoded
    }
}
