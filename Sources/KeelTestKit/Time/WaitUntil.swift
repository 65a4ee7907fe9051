/// Waits until a condition holds that nothing announces, such as a counter reaching a number.
///
/// Looks again each time other tasks have had their turn, on the caller's actor. The condition should be
/// cheap: it is asked thousands of times a second.
///
/// - Parameters:
///   - limit: How long to wait in real time, a minute by default. A test that waits for what never
///     happens then fails, where a loop of its own would hang the run.
///   - condition: Whether what the test waits for has happened.
///   - function: Where the test waits, for the error.
///   - line: Where the test waits, for the error.
/// - Throws: ``WaitExpired`` when the limit has passed, `CancellationError` when the task is cancelled,
///   and what the condition throws.
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
            throw WaitExpired(limit: limit, place: "\(function), line \(line)")
        }
        await Task.yield()
    }
}

/// A condition did not come to hold within the limit of ``waitUntil(within:_:function:line:)``.
public struct WaitExpired: Error, CustomStringConvertible {
    let limit: Duration
    let place: String

    public var description: String {
        "The condition did not hold within \(limit): \(place)."
    }
}
