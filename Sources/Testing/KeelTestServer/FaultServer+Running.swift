#if TestServer
import KeelTestKit
import NIOCore
import NIOPosix

extension FaultServer {
    static func run<Value>(
        _ configuration: Configuration,
        _ script: ServerScript,
        _ operation: (FaultServer) async throws -> Value
    ) async throws -> Value {
        let journal = Watched(HTTPTestJournal())
        let secure = try configuration.tls.map { try SecureChannel($0, configuration.protocols) }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            // Nothing is read before the connection is served: see `ServerConnection`.
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0) { $0.eventLoop.makeSucceededFuture($0) }
        let server = FaultServer(
            port: listener.channel.localAddress?.port ?? 0,
            scheme: secure == nil ? "http" : "https",
            host: secure == nil ? "127.0.0.1" : "localhost",
            script: script,
            journal: journal
        )
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.executeThenClose { channels in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await channel in channels {
                            let connection = ServerConnection(
                                channel: channel,
                                number: journal.change { $0.open() },
                                configuration: configuration,
                                secure: secure,
                                script: script,
                                journal: journal
                            )
                            group.addTask { await connection.serve() }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await operation(server)
        }
    }
}
#endif
