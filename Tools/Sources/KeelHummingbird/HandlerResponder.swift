import HTTPTypes
import HummingbirdCore
import KeelHTTP
import KeelServing
import Logging
import NIOCore
internal import NIOHTTPTypes
import Synchronization

struct HandlerResponder: Sendable {
    private let handler: any ServingHandler
    private let logger: Logger
    /// The scheme of requests that do not name it.
    private let scheme: String

    init(_ handler: any ServingHandler, _ logger: Logger, scheme: String = "http") {
        self.handler = handler
        self.logger = logger
        self.scheme = scheme
    }

    // Concurrent like Hummingbird's own functions, because its writer cannot be sent to another executor.
    @concurrent
    func respond(
        to request: Request,
        _ writer: consuming ResponseWriter,
        on channel: any Channel,
        of connection: UInt64,
        isHTTP2: Bool = false
    ) async throws {
        let hasBody = isHTTP2 ? Self.mayHaveBody(request) : Self.hasBody(request)
        let reader = hasBody ? RequestBodyReader(request.body) : nil
        do {
            var reply = await reply(to: request, reader, on: channel, of: connection)
            if isHTTP2 {
                // HTTP/2 has no such field (RFC 9113, section 8.2.2).
                reply.head.headerFields[.connection] = nil
            } else if reader?.isUntouched == true || Self.asksForOtherProtocol(request) {
                // A client that waits to be told may leave the body out, so its next request cannot be told from a
                // body. Behind a request that asks for another protocol, SwiftNIO decodes nothing.
                reply.head.headerFields[.connection] = "close"
            }
            if Self.hasBody(reply.head.status, request.method) {
                let body = try await Self.writeHead(reply.head, to: writer)
                try await stream(reply.body, to: body)
            } else {
                try await writer.writeResponse(reply.head)
            }
        } catch {
            // The connection is closed, so the rest of the body is not read.
            reader?.refuse()
            throw error
        }
        await reader?.end()
    }

    // The following functions are not inlined, so that a connection that stays open keeps only the memory that
    // sending needs.

    @inline(never)
    private func reply(
        to request: Request,
        _ reader: RequestBodyReader?,
        on channel: any Channel,
        of connection: UInt64
    ) async -> HTTPReply {
        var head = request.head
        head.scheme = head.scheme ?? scheme
        var call = HTTPCall(head, body: reader.map { Self.body($0, of: request) })
        call.options.connection = connection
        let interim = InterimResponses(on: channel)
        defer { interim.end() }
        call.onInterimResponse = { interim.write($0) }
        if head.headerFields[.expect]?.lowercased() == "100-continue" {
            reader?.beforeFirstRead { interim.proceed() }
        }
        return await reply(to: call)
    }

    @concurrent @inline(never)
    private static func writeHead(
        _ head: HTTPResponse,
        to writer: consuming ResponseWriter
    ) async throws -> some ResponseBodyWriter {
        try await writer.writeHead(head)
    }

    @concurrent @inline(never)
    private func stream(
        _ pieces: HTTPByteStream,
        to writer: consuming some ResponseBodyWriter
    ) async throws {
        var writer = writer
        do throws(TransportError) {
            var iterator = pieces.makeAsyncIterator()
            while let piece = try await iterator.next() {
                var rest = piece
                while !rest.isEmpty {
                    try await Self.write(rest.prefix(Self.mostAtOnce), to: &writer)
                    rest = rest.dropFirst(Self.mostAtOnce)
                }
            }
        } catch {
            // The head has been sent, so only closing the connection can report the incomplete body.
            logger.info("A response was cut short", metadata: ["reason": "\(error.code.name)"])
            throw error
        }
        try await writer.finish(pieces.trailers)
    }

    /// Calls the handler in a separate task.
    ///
    /// Until a task ends, it keeps the memory that its deepest calls needed, about 25 KiB for a response of a store.
    @inline(never)
    private func reply(to call: HTTPCall) async -> HTTPReply {
        async let reply = handler.respond(to: call)
        return await reply
    }

    /// The maximum number of bytes per write, because only whole writes count as taken by the client.
    private static let mostAtOnce = 128 << 10

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

    /// Whether a response has a body (RFC 9112, section 6.3).
    private static func hasBody(
        _ status: HTTPResponse.Status,
        _ method: HTTPRequest.Method
    ) -> Bool {
        method != .head && status != .noContent && status != .notModified
            && status.kind != .informational
    }

    /// Whether a request has a body (RFC 9112, section 6.3).
    private static func hasBody(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || (length(of: request) ?? 0) > 0
    }

    /// Whether a request of HTTP/2 may have a body: no field has to announce it (RFC 9113, section 8.1.1).
    private static func mayHaveBody(_ request: Request) -> Bool {
        if let length = length(of: request) { return length > 0 }
        return ![.get, .head, .delete, .options, .trace].contains(request.method)
    }

    private static func asksForOtherProtocol(_ request: Request) -> Bool {
        request.method == .connect || request.headers[.upgrade] != nil
    }

    private static func length(of request: Request) -> Int64? {
        request.headers[.contentLength].flatMap { Int64($0) }
    }

    private static func body(_ reader: RequestBodyReader, of request: Request) -> HTTPBody {
        let isChunked = request.headers[.transferEncoding] != nil
        return HTTPBody(length: isChunked ? nil : length(of: request), isReplayable: false) {
            () async throws(TransportError) in
            HTTPByteStream { () async throws(TransportError) in try await reader.next() }
        }
    }
}

/// Writes the interim responses of one request until its final response.
///
/// Those that the client does not take at once are dropped, as are those after the 64th.
final class InterimResponses: Sendable {
    private let channel: any Channel
    /// The number of responses that can still be written, the last place for 100; 0 once the final response follows.
    private let rest = Mutex(65)

    init(on channel: any Channel) { self.channel = channel }

    /// Writes a response with a status from 102 to 199; others concern the connection.
    func write(_ head: HTTPResponse) {
        guard (102..<200).contains(head.status.code) else { return }
        var head = head
        // It concerns the connection, too, and over HTTP/2 it would end the stream.
        head.headerFields[.connection] = nil
        pass(head, isHint: true)
    }

    /// Lets a client that waits send its body (RFC 9110, section 10.1.1).
    func proceed() { pass(HTTPResponse(status: .continue), isHint: false) }

    private func pass(_ head: HTTPResponse, isHint: Bool) {
        rest.withLock { rest in
            guard rest > (isHint ? 1 : 0) else { return }
            rest -= 1
            // Under the lock, so that the event loop receives it before the final head, which is passed to the same
            // loop after `end()`.
            channel.eventLoop.execute { [channel] in
                guard channel.isActive, channel.isWritable || !isHint else { return }
                channel.writeAndFlush(HTTPResponsePart.head(head), promise: nil)
            }
        }
    }

    /// Drops all further responses.
    func end() { rest.withLock { $0 = 0 } }
}
