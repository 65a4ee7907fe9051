/// A type that knows where the device is.
///
/// Apps use ``LocationService``; adapters implement this protocol and nothing more: time limits,
/// staleness, distances and regions belong to the front. An adapter promises that
///
/// - what it reports comes in order, each fix once, and never two reports at the same time;
/// - it asks the user for nothing but in ``requestPermission(_:)``;
/// - it reports a failure that may pass, says ``LocationEvent/searching`` or a fix when it has
///   passed, and meanwhile goes on trying by itself;
/// - it holds no thread, connection or receiver while nobody monitors it;
/// - several can monitor it at the same time, and each gets everything.
///
/// Run `LocationAdapterCheck` from `KeelConformance` against every new adapter.
public protocol LocationAdapter: Sendable {
    /// What the source is and can do at this moment.
    func capabilities() async -> LocationCapabilities

    /// What the user and the system have decided; asks nobody.
    func permission() async -> LocationPermission

    /// Asks the user, where nobody has decided yet, and waits for the decision.
    ///
    /// - Parameter scope: For how long the app asks to know the position.
    /// - Returns: What was decided, now or before.
    /// - Throws: ``LocationError``, also with the code `cancelled` when the task is.
    func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission

    /// Begins to report.
    ///
    /// It returns without waiting for the source. A permission that is missing is reported as a
    /// failure.
    ///
    /// - Parameters:
    ///   - request: How to monitor.
    ///   - report: Is told of everything, from any thread, also before this function returns.
    /// - Returns: Ends the reports; at most one that is under way comes after it. It can be called
    ///   from within a report, and again, when it does nothing.
    func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void
}
