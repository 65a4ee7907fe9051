import HTTPTypes
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import NIOPosix

/// A client of HTTP/2 without TLS, whose requests a test sends part by part.
struct HTTP2Client: Sendable {
    typealias Stream = NIOAsyncChannel<HTTPResponsePart, HTTPRequestPart>

    /// The parts of a response.
    ///
    /// `@unchecked`, because the iterator cannot be sent: the task that has opened the stream is the only one that uses
    /// it.
    final class Response: @unchecked Sendable {
        private var iterator: NIOAsyncChannelInboundStream<HTTPResponsePart>.AsyncIterator

        init(_ inbound: NIOAsyncChannelInboundStream<HTTPResponsePart>) {
            iterator = inbound.makeAsyncIterator()
        }

        func next() async throws -> HTTPResponsePart? { try await iterator.next() }
    }

    let channel: any Channel
    private let multiplexer: NIOHTTP2Handler.AsyncStreamMultiplexer<Void>

    /// Connects, and closes the connection after `body`.
    static func connected<Value: Sendable>(
        to port: Int,
        _ body: (HTTP2Client) async throws -> Value
    ) async throws -> Value {
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.configureAsyncHTTP2Pipeline(mode: .client) { stream in
                    stream.eventLoop.makeSucceededVoidFuture()
                }
                .map { HTTP2Client(channel: channel, multiplexer: $0) }
            }
        do {
            let value = try await body(client)
            try? await client.channel.close()
            return value
        } catch {
            try? await client.channel.close()
            throw error
        }
    }

    /// Opens a stream, and closes it after `body`.
    func stream<Value: Sendable>(
        _ body: (Response, NIOAsyncChannelOutboundWriter<HTTPRequestPart>) async throws -> Value
    ) async throws -> Value {
        let stream = try await multiplexer.openStream { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTPClientCodec())
                return try Stream(wrappingChannelSynchronously: stream)
            }
        }
        return try await stream.executeThenClose { inbound, outbound in
            try await body(Response(inbound), outbound)
        }
    }

    static func head(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ fields: HTTPFields = [:]
    ) -> HTTPRequestPart {
        .head(HTTPRequest(method, to: "127.0.0.1", path, fields))
    }
}
