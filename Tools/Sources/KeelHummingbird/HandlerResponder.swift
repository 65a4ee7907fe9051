import HTTPTypes
import HummingbirdCore
import KeelHTTP
import KeelServing
import Logging
import NIOCore

/// Takes a request of Hummingbird's to a handler, and the handler's answer back.
struct HandlerResponder: Sendable {
    private let handler: any ServingHandler
    private let logger: Logger

    init(_ handler: any ServingHandler, _ logger: Logger) {
        self.handler = handler
        self.logger = logger
    }

    // Concurrent, as Hummingbird's own functions are: its writer cannot be sent to another executor.
    @concurrent
    func respond(to request: Request, _ writer: consuming ResponseWriter) async throws {
        var head = request.head
        head.scheme = head.scheme ?? "http"
        let reply = await handler.respond(to: HTTPCall(head, body: Self.body(of: request)))
        let hasBody = Self.hasBody(reply.head.status, request.method)
        guard hasBody else { return try await writer.writeResponse(reply.head) }
        var body = try await writer.writeHead(reply.head)
        do throws(TransportError) {
            var pieces = reply.body.makeAsyncIterator()
            while let piece = try await pieces.next() {
                try await Self.write(piece, to: &body)
            }
        } catch {
            // The head is out: only a cut connection tells the client that the body is not whole.
            logger.info("A response was cut short", metadata: ["reason": "\(error.code.name)"])
            throw error
        }
        try await body.finish(reply.body.trailers)
    }

    @concurrent
    private static func write(
        _ piece: ArraySlice<UInt8>,
        to body: inout some ResponseBodyWriter
    ) async throws(TransportError) {
        do {
            try await body.write(ByteBuffer(bytes: piece))
        } catch {
            throw TransportError(.connectionLost, cause: error)
        }
    }

    /// Whether a body follows the head (RFC 9112 section 6.3).
    private static func hasBody(
        _ status: HTTPResponse.Status,
        _ method: HTTPRequest.Method
    ) -> Bool {
        method != .head && status != .noContent && status != .notModified
            && status.kind != .informational
    }

    private static func body(of request: Request) -> HTTPBody? {
        let length = request.headers[.contentLength].flatMap { Int64($0) }
        let isChunked = request.headers[.transferEncoding] != nil
        guard isChunked || (length ?? 0) > 0 else { return nil }
        let reader = RequestBodyReader(request.body)
        return HTTPBody(length: isChunked ? nil : length, isReplayable: false) {
            () async throws(TransportError) in
            HTTPByteStream { () async throws(TransportError) in try await reader.next() }
        }
    }
}
