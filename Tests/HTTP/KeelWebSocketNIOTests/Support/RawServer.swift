#if WebSocket
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// A loopback server that sends each client exactly the bytes of the test.
///
/// It supports only what tests need of WebSocket: granting an upgrade, and parsing a client's
/// frames. It shares no code with the client.
enum RawServer {
    /// The connection of one client.
    struct Peer: Sendable {
        let write: @Sendable ([UInt8]) async throws -> Void
        /// Reads exactly this many bytes, or fewer at the end.
        let read: @Sendable (Int) async throws -> [UInt8]

        /// Reads the request's head, and returns its lines.
        func readRequest() async throws -> [String] {
            var bytes: [UInt8] = []
            while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard let byte = try await readByte() else { throw HungUp() }
                bytes.append(byte)
            }
            return String(decoding: bytes.dropLast(4), as: UTF8.self)
                .split(separator: "\r\n").map(String.init)
        }

        /// Grants the requested upgrade.
        @discardableResult
        func upgrade(_ fields: [String] = []) async throws -> [String] {
            let request = try await readRequest()
            try await write(Array(RawServer.agreement(to: request, fields).utf8))
            return request
        }

        func readByte() async throws -> UInt8? { try await read(1).first }

        /// Reads the next frame of the client; returns nil if it hung up.
        func readFrame() async throws -> Frame? {
            let start = try await read(2)
            guard start.count == 2 else { return nil }
            var length = Int(start[1] & 0x7f)
            if length > 125 {
                length = try await read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
            }
            let key = try await read(start[1] & 0x80 != 0 ? 4 : 0)
            var payload = try await read(length)
            guard payload.count == length else { throw HungUp() }
            if key.count == 4 { for index in payload.indices { payload[index] ^= key[index & 3] } }
            return Frame(
                opcode: start[0] & 0x0f,
                payload: payload,
                isFinal: start[0] & 0x80 != 0,
                reserved: (start[0] & 0x70) >> 4,
                isMasked: !key.isEmpty
            )
        }

        /// Reads the frames of the client up to its Close frame, after which the server is to hang up.
        @discardableResult
        func readFrames() async throws -> [Frame] {
            var frames: [Frame] = []
            while let frame = try await readFrame() {
                frames.append(frame)
                if frame.opcode == 8 { break }
            }
            return frames
        }
    }

    struct HungUp: Error {}

    /// Returns the response with status 101 to a request.
    static func agreement(to request: [String], _ fields: [String] = []) -> String {
        let key =
            request.first { $0.lowercased().hasPrefix("sec-websocket-key: ") }
            .map { String($0.dropFirst("sec-websocket-key: ".count)) } ?? ""
        let lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(proof(of: key))",
        ]
        return (lines + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Returns the proof of RFC 6455 section 4.2.2, by an independent hash implementation.
    static func proof(of key: String) -> String { ServerProof.make(of: key) }

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Runs a server for the duration of `body`.
    static func run<Value: Sendable>(
        tls: NIOSSLContext? = nil,
        _ serve: @escaping @Sendable (Peer) async throws -> Void,
        while body: @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Nothing is read before the connection is served, nor without a request for it.
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0) { $0.eventLoop.makeSucceededFuture($0) }
        let port = server.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask { try? await run(connection, tls, serve) }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body(port)
        }
    }

    private static func run(
        _ channel: any Channel,
        _ tls: NIOSSLContext?,
        _ serve: @escaping @Sendable (Peer) async throws -> Void
    ) async throws {
        let connection = try await channel.eventLoop.submit {
            if let tls {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
            }
            return try Connection(wrappingChannelSynchronously: channel)
        }.get()
        try await connection.executeThenClose { inbound, outbound in
            try await channel.setOption(.autoRead, value: true).get()
            let reader = ByteReader(inbound)
            try await serve(
                Peer(
                    write: { try await outbound.write(ByteBuffer(bytes: $0)) },
                    read: { try await reader.next($0) }
                )
            )
        }
    }
}

/// Buffers arriving bytes for one task.
private actor ByteReader {
    private var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator?
    private var buffer = ByteBuffer()

    init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) {
        iterator = inbound.makeAsyncIterator()
    }

    func next(_ count: Int) async throws -> [UInt8] {
        while buffer.readableBytes < count {
            guard var iterator, var next = try await iterator.next(isolation: self) else { break }
            self.iterator = iterator
            buffer.discardReadBytes()
            buffer.writeBuffer(&next)
        }
        return buffer.readBytes(length: min(count, buffer.readableBytes)) ?? []
    }
}

/// A frame as written by a test or read by a server.
struct Frame: Sendable, Equatable {
    var opcode: UInt8
    var payload: [UInt8]
    var isFinal = true
    /// RSV1 to RSV3, RSV1 being 4.
    var reserved: UInt8 = 0
    var isMasked = false

    var closeCode: UInt16? {
        guard opcode == 8, payload.count >= 2 else { return nil }
        return UInt16(payload[0]) << 8 | UInt16(payload[1])
    }

    /// The bytes of the frame, as a server sends it.
    var bytes: [UInt8] { encoded() }

    /// Returns the bytes of the frame.
    ///
    /// `lengthSize` forces a length of 1, 3 or 9 bytes even if fewer suffice.
    func encoded(lengthSize: Int? = nil) -> [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let size = lengthSize ?? (payload.count < 126 ? 1 : payload.count < 65_536 ? 3 : 9)
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch size {
        case 1: bytes.append(mask | UInt8(payload.count))
        case 3: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
        default:
            bytes.append(mask | 127)
            bytes += stride(from: 56, through: 0, by: -8).map { UInt8(payload.count >> $0 & 0xff) }
        }
        if isMasked { bytes += [0, 0, 0, 0] }
        return bytes + payload
    }

    static func text(_ text: String, final: Bool = true) -> Frame {
        Frame(opcode: 1, payload: Array(text.utf8), isFinal: final)
    }
    static func text(bytes: [UInt8], final: Bool = true) -> Frame {
        Frame(opcode: 1, payload: bytes, isFinal: final)
    }
    static func binary(_ bytes: [UInt8], final: Bool = true) -> Frame {
        Frame(opcode: 2, payload: bytes, isFinal: final)
    }
    static func more(_ bytes: [UInt8], final: Bool = true) -> Frame {
        Frame(opcode: 0, payload: bytes, isFinal: final)
    }
    static func more(_ text: String, final: Bool = true) -> Frame {
        more(Array(text.utf8), final: final)
    }
    static func ping(_ bytes: [UInt8] = []) -> Frame { Frame(opcode: 9, payload: bytes) }
    static func pong(_ bytes: [UInt8] = []) -> Frame { Frame(opcode: 10, payload: bytes) }
    static func close(_ code: UInt16? = 1000, _ reason: [UInt8] = []) -> Frame {
        let number = code.map { [UInt8($0 >> 8), UInt8($0 & 0xff)] } ?? []
        return Frame(opcode: 8, payload: number + reason)
    }
}
#endif
