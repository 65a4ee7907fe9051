extension AnalyticsService {
    @TaskLocal fileprivate static var ofTask: AnalyticsService?

    /// The service of the running task, which `withAnalytics(_:operation:)`
    /// sets; nil where nobody has set one.
    public static var current: AnalyticsService? { ofTask }
}

/// Makes a service the one that the free functions track to, for one operation and its child tasks.
///
/// ```swift
/// try await withAnalytics(analytics) { try await app.run() }
/// ```
///
/// A task begun with `Task { }` inside inherits it; a callback of an old API does not.
///
/// - Parameters:
///   - analytics: The service; nil lets the free functions do nothing.
///   - operation: What runs with it.
/// - Returns: What the operation returns.
/// - Throws: What the operation throws.
public func withAnalytics<Result, Failure: Error>(
    _ analytics: AnalyticsService?,
    operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure> = AnalyticsService.$ofTask.withValue(analytics) {
        Swift.Result(catching: operation)
    }
    return try outcome.get()
}

/// Makes a service the one that the free functions track to, for one asynchronous operation.
///
/// As the synchronous form.
///
/// - Parameters:
///   - analytics: The service; nil lets the free functions do nothing.
///   - operation: What runs with it.
/// - Returns: What the operation returns.
/// - Throws: What the operation throws.
public func withAnalytics<Result, Failure: Error>(
    _ analytics: AnalyticsService?,
    operation: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure> = await AnalyticsService.$ofTask.withValue(
        analytics
    ) {
        do throws(Failure) {
            return .success(try await operation())
        } catch {
            return .failure(error)
        }
    }
    return try outcome.get()
}

/// Tracks an event to the service of the task.
///
/// Without a service nothing happens: see ``AnalyticsService/current``.
///
/// - Parameters:
///   - name: What happened.
///   - parameters: What there is to say about it.
/// - Returns: The event's id; nil if it was refused, or if the task has no service.
@discardableResult
public func trackEvent(
    _ name: String,
    parameters: [String: AnalyticsValue] = [:]
) -> AnalyticsRecord.ID? {
    AnalyticsService.current?.trackEvent(name, parameters: parameters)
}

/// Tracks an event whose parameters are the properties of a type, to the service of the task.
///
/// Without a service nothing happens: see ``AnalyticsService/current``.
///
/// - Parameter event: The event.
/// - Returns: The event's id; nil if it was refused, or if the task has no service.
@discardableResult
public func trackEvent(_ event: some TypedAnalyticsEvent) -> AnalyticsRecord.ID? {
    AnalyticsService.current?.trackEvent(event)
}

/// Tracks to the service of the task that a screen was shown.
///
/// Without a service nothing happens: see ``AnalyticsService/current``.
///
/// - Parameters:
///   - name: The screen's name.
///   - parameters: What there is to say about it.
/// - Returns: The id of the record; nil if it was refused, or if the task has no service.
@discardableResult
public func trackScreen(
    _ name: String,
    parameters: [String: AnalyticsValue] = [:]
) -> AnalyticsRecord.ID? {
    AnalyticsService.current?.trackScreen(name, parameters: parameters)
}
