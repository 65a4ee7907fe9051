internal import Synchronization

/// The background work of an app, with one `run()` for all parts.
///
/// ```swift
/// var work = BackgroundWork()
/// work.add(analytics)
/// work.add(outbox, sending: sender)
/// try await work.run()
/// ```
///
/// Add parts after those they depend on: they end in reverse order, one after the other, and each finishes its
/// remaining work before the next one ends, even if the run's task is canceled.
///
/// - If the task is canceled, all parts end, and the run returns.
/// - If a part throws, the others end, and the run throws the error.
/// - A part that returns does not end the others. The run returns when all parts have returned.
///
/// On a server, use the `ServiceGroup` of KeelServiceLifecycle.
public struct BackgroundWork: Sendable {
    private struct Part: Sendable {
        let name: String
        let limit: Duration
        let run: @Sendable () async throws -> Void
        let finish: @Sendable () async -> Void
    }

    private var parts: [Part] = []
    private let clock: any Clock<Duration>

    /// Creates work without parts.
    public init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// The names of the parts, in the order in which they were added.
    public var names: [String] { parts.map(\.name) }

    /// Adds a part.
    ///
    /// - Parameters:
    ///   - name: The part's name.
    ///   - finishTimeout: The time limit of `finish`, which is then canceled.
    ///   - run: Runs until it is canceled.
    ///   - finish: Runs once the work ends and `run` has ended, even if the task is canceled or `run` has thrown.
    public mutating func add(
        _ name: String,
        finishTimeout: Duration = .seconds(10),
        run: @escaping @Sendable () async throws -> Void,
        finish: @escaping @Sendable () async -> Void = {}
    ) {
        parts.append(Part(name: name, limit: finishTimeout, run: run, finish: finish))
    }

    /// Adds work that is done only at the end, such as writing data still in memory, and is canceled after the limit.
    public mutating func add(
        atEnd name: String,
        within limit: Duration = .seconds(10),
        _ finish: @escaping @Sendable () async -> Void
    ) {
        add(name, finishTimeout: limit, run: { await Self.untilCancelled() }, finish: finish)
    }

    /// Runs all parts until the task is canceled, one of them fails, or all have returned.
    ///
    /// - Throws: The error of the first part that failed.
    public func run() async throws {
        try await outcome(of: nil)
    }

    /// Runs all parts while an operation runs.
    ///
    /// - Parameter operation: The app; when it returns or throws, the parts end. It is canceled if a part fails or the
    ///   task is canceled.
    /// - Returns: The operation's result.
    /// - Throws: The operation's error, or that of a failed part.
    public func run<Value: Sendable>(
        while operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let ending = Mutex<Result<Value, any Error>?>(nil)
        try await outcome {
            do {
                let value = try await operation()
                ending.withLock { $0 = .success(value) }
            } catch {
                // A canceled run does not look at the errors of what it ends.
                ending.withLock { $0 = .failure(error) }
                throw error
            }
        }
        guard let result = ending.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    // MARK: Running

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
        // Unstructured tasks, because a group cancels all children at once, but parts end in order.
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
        // The iteration also ends when this task is canceled.
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
        // Not a child task, which would be canceled with the run; it is awaited below.
        let finishing = Task { await part.finish() }
        let limit = Task {
            do {
                try await clock.sleep(for: part.limit)
                finishing.cancel()
            } catch {
                // Finished in time.
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
