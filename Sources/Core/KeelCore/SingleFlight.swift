import Synchronization

/// A group that runs the operation of a key once for all concurrent callers.
///
/// ```swift
/// let flights = SingleFlight<URL, Image>()
/// let image = try await flights.run(url) { try await load(url) }
/// ```
///
/// - The first caller of a key starts its operation. Callers that come while the operation is running wait for the same
///   result, including an error. A later caller starts a new operation.
/// - A canceled caller throws `CancellationError` at once, and the operation continues for the others. It is canceled
///   when the last caller has left; the next caller then starts a new one at once.
/// - The operation runs in its own task, with the priority and task-local values of the caller that started it. Waiting
///   callers resume in the order in which they came.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let state = Mutex(State())

    /// Creates an empty group.
    public init() {}

    /// The number of keys with a running operation.
    public var count: Int { state.withLock { $0.flights.count } }

    /// The number of waiting callers, for all keys.
    public var waiterCount: Int {
        state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } }
    }

    /// Returns the number of callers waiting for the operation of a key.
    public func waiterCount(of key: Key) -> Int {
        state.withLock { $0.flights[key]?.waiters.count ?? 0 }
    }

    /// Waits for the operation of `key`, starting it if none is running.
    ///
    /// - Parameters:
    ///   - key: The key of the operation.
    ///   - onJoin: Called if the caller joins a running operation.
    ///   - operation: The operation, which runs in its own task.
    /// - Returns: The result of the operation.
    /// - Throws: The error of the operation, or `CancellationError` if the caller was canceled.
    public func run(
        _ key: Key,
        onJoin: () -> Void = {},
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let ticket = state.withLock { $0.makeTicket() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                switch board(key, Waiter(ticket, continuation), operation) {
                case .started: break
                case .joined: onJoin()
                case .cancelled: continuation.resume(returning: .failure(CancellationError()))
                }
            }
        } onCancel: {
            leave(key, ticket)
        }
        return try result.get()
    }

    // MARK: Operations

    private enum Boarding: Sendable { case started, joined, cancelled }

    private func board(
        _ key: Key,
        _ waiter: Waiter,
        _ operation: @escaping @Sendable () async throws -> Value
    ) -> Boarding {
        state.withLock { state in
            // If the task is already canceled, its handler has run without finding this waiter.
            if Task.isCancelled { return .cancelled }
            if state.flights[key] != nil {
                state.flights[key]?.waiters.append(waiter)
                return .joined
            }
            let id = waiter.ticket
            let task = Task {
                let result: Outcome
                do {
                    result = .success(try await operation())
                } catch {
                    result = .failure(error)
                }
                self.land(key, id, result)
            }
            state.flights[key] = Flight(id: id, task: task, waiters: [waiter])
            return .started
        }
    }

    private func land(_ key: Key, _ id: UInt64, _ result: Outcome) {
        let waiters = state.withLock { state -> [Waiter] in
            // Another operation of the key may be running if all callers left this one.
            guard state.flights[key]?.id == id else { return [] }
            return state.flights.removeValue(forKey: key)?.waiters ?? []
        }
        for waiter in waiters { waiter.continuation.resume(returning: result) }
    }

    private func leave(_ key: Key, _ ticket: UInt64) {
        let (waiter, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let index = state.flights[key]?.waiters.firstIndex(where: { $0.ticket == ticket })
            else { return (nil, nil) }
            let waiter = state.flights[key]?.waiters.remove(at: index)
            guard state.flights[key]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, state.flights.removeValue(forKey: key)?.task)
        }
        abandoned?.cancel()
        waiter?.continuation.resume(returning: .failure(CancellationError()))
    }

    // MARK: State

    private typealias Outcome = Result<Value, any Error>

    private struct Waiter: Sendable {
        let ticket: UInt64
        let continuation: CheckedContinuation<Outcome, Never>

        init(_ ticket: UInt64, _ continuation: CheckedContinuation<Outcome, Never>) {
            self.ticket = ticket
            self.continuation = continuation
        }
    }

    private struct Flight: Sendable {
        let id: UInt64
        let task: Task<Void, Never>
        var waiters: [Waiter]
    }

    private struct State: Sendable {
        var flights: [Key: Flight] = [:]
        private var lastTicket: UInt64 = 0

        mutating func makeTicket() -> UInt64 {
            lastTicket += 1
            return lastTicket
        }
    }
}
