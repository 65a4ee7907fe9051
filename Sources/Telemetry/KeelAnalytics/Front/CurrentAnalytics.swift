extension AnalyticsService {
    @TaskLocal fileprivate static var ofTask: AnalyticsService?

    /// The service of the current task, set by `withAnalytics(_:operation:)`; nil if none is set.
    public static var current: AnalyticsService? { ofTask }
}

/// Sets the service that the free functions use, for an operation and its child tasks; with nil, they do nothing.
///
/// ```swift
/// try await withAnalytics(analytics) { try await app.run() }
/// ```
///
/// A `Task { }` created inside inherits the service; callbacks of older APIs do not.
public func withAnalytics<Result, Failure: Error>(
    _ analytics: AnalyticsService?,
    operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure> = AnalyticsService.$ofTask.withValue(analytics) {
        Swift.Result(catching: operation)
    }
    return try outcome.get()
}

/// Sets the service that the free functions use, for an asynchronous operation and its child tasks.
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

/// Tracks an event with the current task's service; see ``AnalyticsService/current``.
///
/// - Returns: The event's id; nil if it was refused or the task has no service.
@discardableResult
public func trackEvent(
    _ name: String,
    parameters: [String: AnalyticsValue] = [:]
) -> AnalyticsRecord.ID? {
    AnalyticsService.current?.trackEvent(name, parameters: parameters)
}

/// Tracks a typed event with the current task's service; see ``AnalyticsService/current``.
///
/// - Returns: The event's id; nil if it was refused or the task has no service.
@discardableResult
public func trackEvent(_ event: some TypedAnalyticsEvent) -> AnalyticsRecord.ID? {
    AnalyticsService.current?.trackEvent(event)
}

/// Tracks a view of a screen with the current task's service; see ``AnalyticsService/current``.
///
/// - Returns: The record's id; nil if it was refused or the task has no service.
@discardableResult
public func trackScreen(
    _ name: String,
    parameters: [String: AnalyticsValue] = [:]
) -> AnalyticsRecord.ID? {
    AnalyticsService.current?.trackScreen(name, parameters: parameters)
}
