/// Runs an operation with overridden dependencies.
///
/// The overrides apply to the operation and the tasks it starts. Calls can be nested.
///
/// ```swift
/// let found = withDependencies {
///     $0.restaurants = .fixtures
/// } operation: {
///     Search().results(for: "ramen")
/// }
/// ```
public func withDependencies<Result, Failure: Error>(
    _ update: (inout DependencyValues) -> Void,
    operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try withDependencies(from: DependencyValues.current.nested(update), operation: operation)
}

/// Runs an asynchronous operation with overridden dependencies.
///
/// The overrides apply as in the synchronous form. Around an app's `main`, this is the composition root; see
/// <doc:KeelDependencies>.
public func withDependencies<Result, Failure: Error>(
    _ update: (inout DependencyValues) -> Void,
    operation: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
    try await withDependencies(from: DependencyValues.current.nested(update), operation: operation)
}

/// Runs an operation with the dependencies of another context.
///
/// Use this function in code that does not inherit task-local values: a callback of an old API, a dispatch queue, a
/// detached task.
///
/// ```swift
/// let values = DependencyValues.current
/// queue.async {
///     withDependencies(from: values) { Search().refresh() }
/// }
/// ```
public func withDependencies<Result, Failure: Error>(
    from values: DependencyValues,
    operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
    // `withValue` rethrows without a type, so the outcome preserves the type.
    try DependencyValues.$taskLocal.withValue(values) {
        Outcome<Result, Failure>(catching: operation)
    }.get()
}

/// Runs an asynchronous operation with the dependencies of another context, as in the synchronous form.
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
