import Synchronization

/// Does the work of one key once for all who ask for it at the same time.
///
/// ```swift
/// let flights = SingleFlight<URL, Image>()
/// let image = try await flights.run(url) { try await load(url) }
/// ```
///
/// - The first caller of a key starts its flight; those who come while it is under way wait for the
///   same result, an error included. Whoever comes after its end starts a new one.
/// - A caller that is cancelled leaves with `CancellationError` at once; the flight goes on for the
///   others. When the last one has left, the flight is cancelled, and the next caller of the key
///   starts a new one without waiting for the old one to end.
/// - The flight is a task of its own, with the priority and the task-local values of the caller
///   that started it. Waiters go on in the order in which they came.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let state = Mutex(State())

    /// Creates a group of flights.
    public init() {}

    /// How many keys have a flight under way.
    public var count: Int { state.withLock { $0.flights.count } }

    /// How many callers wait, for whatever key.
    public var waiterCount: Int {
        state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } }
    }

    /// How many callers wait for the flight of a key.
    public func waiterCount(of key: Key) -> Int {
        state.withLock { $0.flights[key]?.waiters.count ?? 0 }
    }

    /// Waits for the flight of `key`, starting it where none is under way.
    ///
    /// - Parameters:
    ///   - key: The key of the work.
    ///   - onJoin: Called when the caller joins a flight that is under way.
    ///   - operation: The work; it runs in a task of the flight, not of the caller.
    /// - Returns: The flight's result.
    /// - Throws: The flight's error, or `CancellationError` if the caller was cancelled.
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

    // MARK: The life of a flight

    private enum Boarding: Sendable { case started, joined, cancelled }

    private func board(
        _ key: Key,
        _ waiter: Waiter,
        _ operation: @escaping @Sendable () async throws -> Value
    ) -> Boarding {
        state.withLock { state in
            // The handler of a task that is cancelled by now has run, and found nobody to remove.
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
            // Another flight of the key may be under way, if all left this one.
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
        /// In the order in which they came.
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
