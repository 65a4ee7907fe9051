internal import Synchronization

/// The background work of an app, with one `run()` for all of it.
///
/// ```swift
/// var work = BackgroundWork()
/// work.add(analytics)
/// work.add(outbox, sending: sender)
/// try await work.run()
/// ```
///
/// Add first what the others need: parts end in reverse order, one after the other, and each
/// finishes what is left before the next one ends, also where the task of the run was cancelled. What
/// is added first, such as the shipping of logs, so sees what all others do until they end.
///
/// - When the task is cancelled, all parts end, and the run returns.
/// - When a part throws, the others end, and the run throws its error.
/// - A part that returns by itself ends no other. The run returns when none is left.
///
/// On a server, KeelServiceLifecycle puts the same parts into a `ServiceGroup`.
public struct BackgroundWork: Sendable {
    /// One part.
    private struct Part: Sendable {
        let name: String
        let limit: Duration
        let run: @Sendable () async throws -> Void
        let finish: @Sendable () async -> Void
    }

    private var parts: [Part] = []
    private let clock: any Clock<Duration>

    /// Creates work without parts.
    ///
    /// - Parameter clock: What the limits of finishing are measured on.
    public init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// The names of the parts, in the order in which they were added.
    public var names: [String] { parts.map(\.name) }

    /// Adds a part.
    ///
    /// - Parameters:
    ///   - name: The part's name.
    ///   - limit: How long it may take to finish; it is cancelled then.
    ///   - run: Runs until it is cancelled.
    ///   - finish: Runs after it, in a task that is not cancelled.
    public mutating func add(
        _ name: String,
        finishingWithin limit: Duration = .seconds(10),
        run: @escaping @Sendable () async throws -> Void,
        finish: @escaping @Sendable () async -> Void = {}
    ) {
        parts.append(Part(name: name, limit: limit, run: run, finish: finish))
    }

    /// Adds something that is done at the end alone, such as writing what is still in memory.
    ///
    /// - Parameters:
    ///   - name: The part's name.
    ///   - limit: How long it may take; it is cancelled then.
    ///   - finish: The work.
    public mutating func add(
        atEnd name: String,
        within limit: Duration = .seconds(10),
        _ finish: @escaping @Sendable () async -> Void
    ) {
        add(name, finishingWithin: limit, run: { await Self.untilCancelled() }, finish: finish)
    }

    /// Runs all parts until the task is cancelled, one of them fails, or all have returned.
    ///
    /// - Throws: The error of the first part that failed by itself.
    public func run() async throws {
        try await outcome(of: nil)
    }

    /// Runs all parts as long as an operation runs.
    ///
    /// - Parameter operation: The app; when it returns or throws, the parts end. When a part fails,
    ///   the operation is cancelled.
    /// - Returns: What the operation returns.
    /// - Throws: What the operation throws, and the error of a part that failed.
    public func run<Value: Sendable>(
        while operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let value = Mutex<Value?>(nil)
        try await outcome {
            let made = try await operation()
            value.withLock { $0 = made }
        }
        guard let value = value.withLock({ $0 }) else { throw CancellationError() }
        return value
    }

    // MARK: Running

    /// How a part has ended, by its place.
    private struct Ending: Sendable {
        let place: Int
        let error: (any Error)?
    }

    private func outcome(
        of operation: (@Sendable () async throws -> Void)?
    ) async throws {
        // The operation is the last part: it ends first, and ends the others.
        var bodies = parts.map(\.run)
        if let operation { bodies.append(operation) }
        guard !bodies.isEmpty else { return }
        let (endings, ended) = AsyncStream.makeStream(of: Ending.self)
        // Tasks of their own, because cancelling reaches all children at once and these end in order.
        let tasks = bodies.enumerated().map { place, body in
            Task {
                do {
                    try await body()
                    ended.yield(Ending(place: place, error: nil))
                } catch {
                    ended.yield(Ending(place: place, error: error))
                }
            }
        }
        var left = tasks.count
        var failure: (any Error)?
        // It ends also when this task is cancelled.
        for await ending in endings {
            left -= 1
            failure = ending.error
            let isOperation = ending.place == parts.count
            if failure != nil || isOperation || left == 0 { break }
        }
        for (place, task) in tasks.enumerated().reversed() {
            task.cancel()
            await task.value
            if place < parts.count { await finish(parts[place]) }
        }
        if let failure { throw failure }
    }

    private func finish(_ part: Part) async {
        // Not a child, which would be cancelled with the run; it ends before this returns.
        let finishing = Task { await part.finish() }
        let limit = Task {
            do {
                try await clock.sleep(for: part.limit)
                finishing.cancel()
            } catch {
                // It was finished in time.
            }
        }
        await finishing.value
        limit.cancel()
        await limit.value
    }

    private static func untilCancelled() async {
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
    }
}
