#if AsyncHTTPClient
import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A server on the loopback interface that answers each request as the test says, byte by byte.
///
/// It does not speak HTTP: it reads a request up to its end and hands the connection to the test,
/// which can then write anything, nothing, or hang up.
enum FaultServer {
    /// A request, as it arrived.
    struct Request: Sendable {
        var line: String
        var fields: [String]
        var body: [UInt8]

        var path: String { String(line.split(separator: " ").dropFirst().first ?? "") }
    }

    /// What becomes of the connection after an answer.
    enum After: Sendable {
        /// It waits for the next request.
        case keepOpen
        /// It is closed in order.
        case close
        /// It is reset, as by a crash of the peer.
        case reset
        /// It stays open without a word until the client closes it.
        case stall
    }

    /// Writes bytes to the client; throws if the client has hung up.
    typealias Writer = @Sendable (String) async throws -> Void

    /// Answers one request.
    typealias Handler = @Sendable (Request, Writer) async throws -> After

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Runs a server for as long as `body` runs.
    ///
    /// `onHangUp` is finished when a client has closed a connection that stalled.
    static func run<Value: Sendable>(
        noticing onHangUp: AsyncStream<Void>.Continuation? = nil,
        _ handler: @escaping Handler,
        while body: @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Nothing is read before the connection is served: see `serve`.
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0) { $0.eventLoop.makeSucceededFuture($0) }
        let port = server.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask { try? await serve(connection, handler, onHangUp) }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body(port)
        }
    }

    /// Answers every request with the same bytes, then does the same thing.
    static func run<Value: Sendable>(
        answering bytes: String,
        then after: After,
        while body: @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        try await run(
            { _, write in
                try await write(bytes)
                return after
            },
            while: body
        )
    }

    private static func serve(
        _ channel: any Channel,
        _ handler: Handler,
        _ onHangUp: AsyncStream<Void>.Continuation?
    ) async throws {
        // Wrapped only now, because NIO traps when a wrapped channel is dropped without being
        // used, as the last ones are when a test ends.
        let connection = try await channel.eventLoop.submit {
            try Connection(wrappingChannelSynchronously: channel)
        }.get()
        // A client that hangs up in the middle ends its connection and nothing else.
        try await connection.executeThenClose { inbound, outbound in
            try await channel.setOption(.autoRead, value: true).get()
            var chunks = inbound.makeAsyncIterator()
            var reader = RequestReader()
            while true {
                while !reader.isComplete {
                    guard let chunk = try await chunks.next() else { return }
                    reader.append(chunk.readableBytesView)
                }
                let after = try await handler(reader.take()) { text in
                    guard !text.isEmpty else { return }
                    try await outbound.write(ByteBuffer(string: text))
                }
                switch after {
                case .keepOpen: continue
                case .close: return
                case .reset:
                    // Lingering for no time makes closing send a reset.
                    let options = connection.channel as? any SocketOptionProvider
                    try await options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
                    try await connection.channel.close().get()
                    return
                case .stall:
                    defer { onHangUp?.finish() }
                    while try await chunks.next() != nil {}
                    return
                }
            }
        }
    }
}

/// Collects bytes until they are a whole request.
private struct RequestReader {
    private var bytes: [UInt8] = []

    mutating func append(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    var isComplete: Bool {
        // A TLS handshake record: this server speaks plain text, so there will be no request.
        if bytes.first == 22 { return true }
        guard let head else { return false }
        let body = bytes[head.end...]
        if head.isChunked { return body.suffix(5).elementsEqual("0\r\n\r\n".utf8) }
        return body.count >= head.length
    }

    mutating func take() -> FaultServer.Request {
        let head = self.head
        let lines = head?.lines ?? []
        defer { bytes = [] }
        return FaultServer.Request(
            line: lines.first ?? "",
            fields: Array(lines.dropFirst()),
            body: Array(bytes[(head?.end ?? 0)...])
        )
    }

    private struct Head {
        var lines: [String]
        var end: Int
        var length: Int { Int(value(of: "content-length") ?? "") ?? 0 }
        var isChunked: Bool { value(of: "transfer-encoding") == "chunked" }

        private func value(of name: String) -> String? {
            lines.first { $0.lowercased().hasPrefix(name + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private var head: Head? {
        let mark = Array("\r\n\r\n".utf8)
        guard
            let start = bytes.indices.first(where: { bytes[$0...].starts(with: mark) })
        else { return nil }
        // Swift takes CR and LF together for one character.
        let lines = String(decoding: bytes[..<start], as: UTF8.self).split(separator: "\r\n")
        return Head(lines: lines.map(String.init), end: start + mark.count)
    }
}
#endif
