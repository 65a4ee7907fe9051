import NIOCore
import NIOPosix

/// Ports of 127.0.0.1 for servers that listen only later, or listen again after their end.
enum FreePort {
    /// An error for a lack of free ports.
    struct Missing: Error {}

    /// Returns a port that is currently free.
    ///
    /// It is below the ports that the system chooses itself: one of those could go to another test's server or
    /// connection before the server listens.
    static func find() async throws -> Int {
        for _ in 0..<1_000 {
            let port = Int.random(in: 10_000..<30_000)
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            guard let channel = try? await bootstrap.bind(host: "127.0.0.1", port: port).get()
            else { continue }
            try await channel.close()
            return port
        }
        throw Missing()
    }
}
