import KeelServing
import Logging
import ServiceLifecycle

/// Disconnects the clients of a server before the earlier services of its group end.
struct DrainService: Service {
    private let server: StorageServer
    private let time: Duration
    private let logger: Logger

    init(_ server: StorageServer, for time: Duration, _ logger: Logger) {
        self.server = server
        self.time = time
        self.logger = logger
    }

    func run() async throws {
        try await gracefulShutdown()
        logger.info("Shutting down")
        await server.drain(for: time)
    }
}
