import Foundation
import KeelTerminal
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

    /// Runs a body until it ends; a signal, or cancellation of the task, cancels the body.
    static func wait(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let watches = [SIGINT, SIGTERM].map { SignalWatch($0) { continuation.yield() } }
        defer { withExtendedLifetime(watches) {} }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { for await _ in signals { return } }
            do {
                try await group.next()
            } catch {
                // Cancellation of the task, for example by the shell, counts as an interruption.
                guard Task.isCancelled else { throw error }
            }
            group.cancelAll()
        }
    }
}
