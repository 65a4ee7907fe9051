import NIOCore
import NIOPosix

/// A server of one connection after another, on which a test writes what it likes.
enum RawServer {
    /// Runs a server while `body` runs; each connection is closed once served.
    static func with<Value: Sendable>(
        serving serve: @escaping @Sendable (_ number: Int, RawClient) async throws -> Void,
        _ body: @escaping @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        let port = server.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                try await server.executeThenClose { connections in
                    var number = 0
                    for try await connection in connections {
                        number += 1
                        let count = number
                        try await connection.executeThenClose { inbound, outbound in
                            let peer = RawClient(
                                inbound: inbound.makeAsyncIterator(),
                                outbound: outbound
                            )
                            try await serve(count, peer)
                        }
                    }
                }
            }
            let value = try await body(port)
            tasks.cancelAll()
            return value
        }
    }
}
