import KeelHummingbird
import KeelServing
import Logging
import ServiceLifecycle
import Testing

/// A server on a free port, for as long as a test needs it.
enum RunningServer {
    static func with<Value: Sendable>(
        _ handler: some ServingHandler,
        access: HandlerServer.Access = .sameMachine,
        mostConnections: Int = 16_384,
        onShutdown: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        try await withGroup(
            handler,
            access: access,
            mostConnections: mostConnections,
            onShutdown: onShutdown
        ) { port, _ in
            try await body(port)
        }
    }

    /// Also gives the group, which can shut the server down earlier.
    static func withGroup<Value: Sendable>(
        _ handler: some ServingHandler,
        access: HandlerServer.Access = .sameMachine,
        mostConnections: Int = 16_384,
        onShutdown: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (_ port: Int, _ group: ServiceGroup) async throws -> Value
    ) async throws -> Value {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = HandlerServer(
            handler,
            access: access,
            mostConnections: mostConnections,
            logger: logger,
            onListening: { port in listening.yield(port) },
            onShutdown: onShutdown
        )
        let group = ServiceGroup(services: [server], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                // If it cannot start, waiting for its port must end.
                defer { listening.finish() }
                try await group.run()
            }
            let port = try #require(await ports.first { _ in true })
            do {
                let value = try await body(port, group)
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                return value
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
        }
    }
}
