internal import HTTPTypes
public import KeelHTTP

/// A middleware that requests compressed responses and decodes them while they are read.
///
/// A client over `AsyncHTTPClientTransport` has it by default (see the transport's configuration),
/// and below `URLSessionTransport` the system decodes. For another transport:
///
/// ```swift
/// configuration.attemptMiddleware.append(ResponseDecompression(for: transport.features))
/// ```
///
/// Supports `gzip` and `deflate`. The reply loses `Content-Encoding` and `Content-Length`, which describe the
/// compressed form. These calls and their responses pass unchanged:
///
/// - a call with its own `Accept-Encoding`, or with a `Range`, which counts the bytes as sent;
/// - a `HEAD`, so that its reply has the length of the uncompressed body;
/// - a call that accepts only `text/event-stream`;
/// - a download with an observer: the compressed length says nothing about the decoded progress;
/// - all calls, if the transport does not pass bodies on as sent (`HTTPTransportFeatures.rawContentCoding`).
///
/// So do responses with status 206, or with another coding or more than three.
///
/// A cache belongs above it: it stores the decoded body under the entity tag of the compressed one, validates it by
/// that tag, and cuts ranges from the decoded body.
///
/// Bodies fail with `decompressionFailed` if they are malformed or end early, and with
/// `decompressionLimit` if they exceed the limits.
public struct ResponseDecompression: HTTPMiddleware, DeadlineEnforcing {
    private let limits: DecompressionLimits
    private let isActive: Bool

    /// Creates the middleware for a transport with the given features.
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
        decoded.body = reply.body.decoded(from: codings, limits: limits)
        decoded.head.headerFields[.contentEncoding] = nil
        if !codings.isEmpty { decoded.head.headerFields[.contentLength] = nil }
        return decoded
    }
}

/// The limits on the growth of a compressed body.
public struct DecompressionLimits: Sendable, Hashable {
    /// The maximum ratio of a body's size to its compressed size, whatever the number of its codings.
    ///
    /// Applies above ``allowance``, and is exceeded by at most 64 KiB.
    public var ratio: Int

    /// The size in bytes allowed whatever the ratio.
    public var allowance: Int64

    /// The maximum size of a body in bytes, or nil for no limit besides the ratio.
    public var total: Int64?

    /// Creates limits.
    public init(ratio: Int = 200, allowance: Int64 = 1024 * 1024, total: Int64? = nil) {
        self.ratio = ratio
        self.allowance = allowance
        self.total = total
    }

    func permit(_ output: Int64, from input: Int64) -> Bool {
        if let total, output > total { return false }
        return output <= allowance || output / Int64(max(ratio, 1)) <= input
    }
}

extension HTTPBody {
    /// Returns the body without its content codings, decoded while it is read; nil for an unknown coding.
    package func decompressed(
        from encoding: String,
        limits: DecompressionLimits = DecompressionLimits()
    ) -> HTTPBody? {
        guard let codings = ContentCoding.list(encoding) else { return nil }
        guard !codings.isEmpty else { return self }
        return HTTPBody(length: nil, isReplayable: isReplayable) {
            () async throws(TransportError) in
            try await open().decoded(from: codings, limits: limits)
        }
    }
}
