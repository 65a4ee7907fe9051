import Dispatch
import Foundation
import KeelToolSupport
import Synchronization

/// Ends a wait on SIGINT and SIGTERM.
enum Interruption {
    /// Runs a body to its end; a signal cancels it, and is reported as an error with this advice.
    static func value<Value: Sendable>(
        advice: String = "Nothing was left behind.",
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = Outcome<Value>()
        try await wait {
            let value = try await body()
            result.value.withLock { $0 = value }
        }
        guard let value = result.value.withLock({ $0 }) else {
            throw ToolError("it was interrupted", advice: advice)
        }
        return value
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// Runs a body until it ends or a signal cancels it.
    static func wait(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the source is called.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { for await _ in signals { return } }
            try await group.next()
            group.cancelAll()
        }
    }
}
