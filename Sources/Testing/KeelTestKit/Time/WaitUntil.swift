/// Waits until a condition holds that cannot be observed, such as a counter reaching a number.
///
/// The condition is evaluated on the caller's actor, thousands of times a second. Other tasks run between two
/// evaluations.
///
/// - Parameters:
///   - limit: The longest wait in real time, a minute by default.
///   - condition: Returns whether to end the wait.
///   - function: The calling function, for the error.
///   - line: The calling line, for the error.
/// - Throws: ``WaitTimeoutError`` once the limit has passed, `CancellationError` if the task is canceled, and the error
///   of the condition.
public func waitUntil(
    within limit: Duration = .seconds(60),
    _ condition: () async throws -> Bool,
    function: String = #function,
    line: Int = #line
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        try Task.checkCancellation()
        guard ContinuousClock.now < deadline else {
            throw WaitTimeoutError(limit: limit, place: "\(function), line \(line)")
        }
        await Task.yield()
    }
}

/// An error for a condition that did not hold within the limit of ``waitUntil(within:_:function:line:)``.
public struct WaitTimeoutError: Error, CustomStringConvertible {
    let limit: Duration
    let place: String

    public var description: String {
        "The condition did not hold within \(limit): \(place)."
    }
}

/// Waits until the current task is canceled.
package func waitForCancellation() async {
    // A stream without elements ends when its reader's task is canceled.
    let (never, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    continuation.finish()
}
