#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import KeelHTTP
import Synchronization

/// Limits how long a call waits for a free connection.
///
/// AsyncHTTPClient uses one limit for that wait and for opening a connection. Here a call counts as waiting for a free
/// connection if, at its timeout, as many exchanges with its host are in progress as there may be connections.
/// Otherwise its connection is being opened, which has its own limit.
final class ConnectionQueue: Sendable {
    private let limit: Int
    private let timeout: Duration?
    private let busy = Mutex<[String: Int]>([:])

    init(limit: Int, timeout: Duration?) {
        self.limit = limit
        self.timeout = timeout
    }

    func exchangeBegan(_ origin: String) {
        guard timeout != nil else { return }
        busy.withLock { $0[origin, default: 0] += 1 }
    }

    func exchangeEnded(_ origin: String) {
        guard timeout != nil else { return }
        busy.withLock { busy in
            let left = busy[origin, default: 1] - 1
            busy[origin] = left == 0 ? nil : left
        }
    }

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
