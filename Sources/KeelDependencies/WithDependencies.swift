/// Runs an operation with some dependencies set.
///
/// They are set for the operation and for the tasks it starts, and for nothing else: what runs
/// beside it, in this task or another, sees no change. Operations nest.
///
/// ```swift
/// let found = withDependencies {
///     $0.restaurants = .fixtures
/// } operation: {
///     Search().results(for: "ramen")
/// }
/// ```
///
/// - Returns: what the operation returns.
/// - Throws: what the operation throws.
public func withDependencies<Result, Failure: Error>(
    _ update: (inout DependencyValues) -> Void,
    operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try withDependencies(from: DependencyValues.current.nested(update), operation: operation)
}

/// Runs an asynchronous operation with some dependencies set.
///
/// As the synchronous form. Around an app's `main` this is the composition root; see
/// <doc:KeelDependencies>.
///
/// - Returns: what the operation returns.
/// - Throws: what the operation throws.
public func withDependencies<Result, Failure: Error>(
    _ update: (inout DependencyValues) -> Void,
    operation: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
    try await withDependencies(from: DependencyValues.current.nested(update), operation: operation)
}

/// Runs an operation with the dependencies of another place.
///
/// For code that inherits nothing: a callback of an old API, a dispatch queue, a detached task.
/// Take the values where they are right, and use them where they are missing.
///
/// ```swift
/// let values = DependencyValues.current
/// queue.async {
///     withDependencies(from: values) { Search().refresh() }
/// }
/// ```
///
/// - Returns: what the operation returns.
/// - Throws: what the operation throws.
public func withDependencies<Result, Failure: Error>(
    from values: DependencyValues,
    operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
    // `withValue` rethrows without a type; the outcome carries the type across it.
    try DependencyValues.$taskLocal.withValue(values) {
        Outcome<Result, Failure>(catching: operation)
    }.get()
}

/// Runs an asynchronous operation with the dependencies of another place.
///
/// As the synchronous form.
///
/// - Returns: what the operation returns.
/// - Throws: what the operation throws.
public func withDependencies<Result, Failure: Error>(
    from values: DependencyValues,
    operation: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
    let outcome: Outcome<Result, Failure> = await DependencyValues.$taskLocal.withValue(values) {
        do throws(Failure) {
            return .success(try await operation())
        } catch {
            return .failure(error)
        }
    }
    return try outcome.get()
}

private typealias Outcome<Success, Failure: Error> = Swift.Result<Success, Failure>
