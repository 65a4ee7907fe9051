import Foundation
import KeelTerminal
import KeelToolSupport
import Synchronization

/// Cancels work on SIGINT, SIGTERM, and on SIGHUP unless it is ignored.
enum Interruption {
    /// Runs a body, which a signal or cancellation of the task cancels.
    ///
    /// - Throws: An error of the body; `ToolError` with the advice if it was canceled before it returned a value.
    static func value<Value: Sendable>(
        advice: String = "Nothing was left behind.",
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = Outcome<Value>()
        let number = try await signal {
            let value = try await body()
            result.value.withLock { $0 = value }
        }
        guard let value = result.value.withLock({ $0 }) else {
            throw ToolError(
                "it was interrupted",
                advice: advice,
                exit: number.flatMap { ToolExit(rawValue: 128 + $0) } ?? .interrupted
            )
        }
        return value
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// Runs a body until it ends; a signal, or cancellation of the task, cancels the body.
    static func wait(_ body: @escaping @Sendable () async throws -> Void) async throws {
        _ = try await signal(during: body)
    }

    /// Runs a body as ``wait(_:)`` does; returns the signal that canceled it.
    private static func signal(
        during body: @escaping @Sendable () async throws -> Void
    ) async throws -> Int32? {
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        let watches = [SIGINT, SIGTERM, SIGHUP]
            .filter { $0 != SIGHUP || !SignalWatch.isIgnored($0) }
            .map { number in SignalWatch(number) { continuation.yield(number) } }
        defer { withExtendedLifetime(watches) {} }
        return try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask {
                try await body()
                return nil
            }
            group.addTask { await signals.first { _ in true } }
            defer { group.cancelAll() }
            do {
                return try await group.next() ?? nil
            } catch {
                // Cancellation of the task, for example by the shell, counts as an interruption.
                guard Task.isCancelled else { throw error }
                return nil
            }
        }
    }
}
