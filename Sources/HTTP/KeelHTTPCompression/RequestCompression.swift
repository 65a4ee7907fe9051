public import HTTPTypes
public import KeelHTTP
internal import KeelZlib
internal import Synchronization

/// A middleware that compresses request bodies with gzip.
///
/// HTTP cannot ask a server beforehand whether it accepts compressed requests: use this for servers that are known to.
/// A replayable body remains replayable.
///
/// Requests that count or digest the bytes of their body pass unchanged: those with `Content-Range`, the
/// `Upload-Offset` of a resumable upload, `Content-Digest`, `Repr-Digest`, `Digest` or `Content-MD5`. So do those with
/// a `Content-Encoding` or a type that is compressed already, and bytes that compression does not shorten.
public struct RequestCompression: HTTPMiddleware, DeadlineEnforcing {
    private static let exactFields = [
        "Content-Range", "Upload-Offset", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5",
    ].compactMap { HTTPField.Name($0) }

    private let minimumSize: Int64
    private let isWanted: @Sendable (HTTPRequest) -> Bool

    /// Creates the middleware.
    ///
    /// - Parameters:
    ///   - minimumSize: The minimum body size in bytes; bodies of unknown size are compressed.
    ///   - isWanted: Returns whether to compress a request.
    public init(
        minimumSize: Int64 = 1024,
        isWanted: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        self.minimumSize = minimumSize
        self.isWanted = isWanted
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let body = call.body, (body.length ?? minimumSize) >= minimumSize,
            call.head.headerFields[.contentEncoding] == nil,
            !Self.exactFields.contains(where: { call.head.headerFields[$0] != nil }),
            !Self.isCompressed(call.head.headerFields[.contentType]), isWanted(call.head)
        else { return try await next(call) }
        var compressed = call
        if let bytes = body.bytes {
            let stream = DeflateStream()
            guard let begin = stream.deflate(bytes[...]), let end = stream.deflate(nil),
                begin.count + end.count < bytes.count
            else { return try await next(call) }
            compressed.body = HTTPBody(begin + end)
        } else {
            compressed.body = HTTPBody(length: nil, isReplayable: body.isReplayable) {
                () async throws(TransportError) in
                try await Self.compressed(body.open())
            }
        }
        compressed.head.headerFields[.contentLength] = nil
        compressed.head.headerFields[.contentEncoding] = "gzip"
        return try await next(compressed)
    }

    private static func compressed(_ stream: HTTPByteStream) -> HTTPByteStream {
        let encoder = BodyEncoder()
        return stream.mapReads { read async throws(TransportError) in
            try await encoder.next(from: read)
        }
    }

    private static func isCompressed(_ type: String?) -> Bool {
        let type = (type ?? "").prefix { $0 != ";" }.lowercased()
        return ["image/", "video/", "audio/", "font/woff"].contains { type.hasPrefix($0) }
            && type != "image/svg+xml"
            || ["zip", "gzip", "zstd", "x-7z-compressed", "pdf"]
                .contains { type == "application/\($0)" }
    }
}

private final class BodyEncoder: Sendable {
    private struct State {
        let stream = DeflateStream()
        var isAtEnd = false
    }

    private let state = Mutex(State())

    func next(from read: HTTPByteStream.Read) async throws(TransportError) -> ArraySlice<UInt8>? {
        while !state.withLock({ $0.isAtEnd }) {
            let piece = try await read()
            let output = state.withLock { state in
                if piece == nil { state.isAtEnd = true }
                return state.stream.deflate(piece)
            }
            guard let output else {
                throw TransportError(.bodyProducerFailed, "The body could not be compressed.")
            }
            if !output.isEmpty { return output[...] }
        }
        return nil
    }
}
