internal import HTTPTypes
public import KeelHTTP

/// Asks for compressed responses and decodes them while they are read.
///
/// A client over `AsyncHTTPClientTransport` has this layer by default (see the transport's
/// configuration), and below `URLSessionTransport` the system decodes. For another transport:
///
/// ```swift
/// configuration.attemptMiddleware.append(ResponseDecompression(for: transport.features))
/// ```
///
/// It knows `gzip` and `deflate`. The reply loses the fields `Content-Encoding` and
/// `Content-Length`, which belong to the compressed form. The layer passes these calls and their
/// responses on unchanged:
///
/// - a call that names an `Accept-Encoding` of its own, or a `Range`, whose bytes are counted in the
///   form that the server sends;
/// - a `HEAD`, so that its reply has the length of the uncompressed body;
/// - a download whose progress is observed: the length of the compressed form says nothing about
///   how much of the decoded body has arrived.
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
            call.head.headerFields[.acceptEncoding] == nil, call.head.headerFields[.range] == nil,
            call.head.headerFields[.accept] != "text/event-stream"
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
