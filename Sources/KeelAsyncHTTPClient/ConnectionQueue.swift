#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import KeelHTTP
import Synchronization

/// Limits how long a call waits for a free connection.
///
/// AsyncHTTPClient measures that wait and the opening of a connection with one limit. Here a call
/// counts as waiting for a free connection if, when its time is over, as many exchanges with its
/// host are under way as there may be connections; otherwise a connection is being opened, which
/// has a limit of its own.
final class ConnectionQueue: Sendable {
    private let limit: Int
    private let timeout: Duration?
    private let busy = Mutex<[String: Int]>([:])

    init(limit: Int, timeout: Duration?) {
        self.limit = limit
        self.timeout = timeout
    }

    /// Takes note of an exchange that got a connection.
    func exchangeBegan(_ origin: String) {
        guard timeout != nil else { return }
        busy.withLock { $0[origin, default: 0] += 1 }
    }

    /// Takes note of the end of an exchange that had got a connection.
    func exchangeEnded(_ origin: String) {
        guard timeout != nil else { return }
        busy.withLock { busy in
            let left = busy[origin, default: 1] - 1
            busy[origin] = left == 0 ? nil : left
        }
    }

    /// Runs an exchange, and ends it if it waits for a free connection for too long.
    func waiting<Value: Sendable>(
        _ exchange: Exchange,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let timeout else { return try await operation() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try? await ContinuousClock().sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            while let outcome = try await group.next() {
                if let value = outcome { return value }
                let isFull = busy.withLock { $0[exchange.origin, default: 0] >= limit }
                if isFull, !exchange.hasConnection, !Task.isCancelled {
                    throw TransportError(.poolTimeout)
                }
            }
            throw TransportError(.cancelled)
        }
    }
}
#endif
