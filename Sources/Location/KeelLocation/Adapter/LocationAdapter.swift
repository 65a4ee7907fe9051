/// A source of the device's position.
///
/// Apps use ``LocationService``, which adds time limits, staleness, distances and regions. An adapter promises that
///
/// - reports come in order, each fix once, and never two concurrently;
/// - the user is asked only by ``requestPermission(_:)``;
/// - after reporting a transient failure it keeps trying, and reports ``LocationEvent/searching`` or a fix on recovery;
/// - it holds no thread, connection or receiver while it is not monitored;
/// - several callers can monitor it concurrently, and each receives everything.
///
/// Run `LocationAdapterCheck` from `KeelConformance` against every new adapter.
public protocol LocationAdapter: Sendable {
    /// Returns the kind of source and its current capabilities.
    func capabilities() async -> LocationCapabilities

    /// Returns the current permission, without asking the user.
    func permission() async -> LocationPermission

    /// Asks the user for permission, unless already decided, and waits for the decision.
    ///
    /// - Throws: ``LocationError``, with the code `cancelled` if the task is canceled.
    func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission

    /// Starts reporting.
    ///
    /// The method returns without waiting for the source. A missing permission is reported as a failure.
    ///
    /// - Parameters:
    ///   - request: How to monitor.
    ///   - report: Receives all events, on any thread, possibly before this function returns.
    /// - Returns: A function that ends the reports; at most one report in progress follows. It can
    ///   be called from within a report, and again without effect.
    func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void
}

/// An event of a monitored source.
public enum LocationEvent: Sendable {
    /// The source works but has no position: at the start, after connecting, or because the
    /// receiver has lost its satellites.
    case searching
    /// A position with its age; live fixes have age zero.
    case fix(LocationFix, age: Duration)
    /// A failure; after a transient one the source keeps trying.
    case failure(LocationError)

    /// Returns an event for a position with age zero.
    public static func fix(_ fix: LocationFix) -> LocationEvent { .fix(fix, age: .zero) }
}

/// How a source is monitored.
public struct LocationRequest: Sendable, Hashable {
    /// The sufficient accuracy in meters, a hint that saves power; nil requests the best.
    public var desiredAccuracy: Double?

    /// Creates a request.
    public init(desiredAccuracy: Double? = nil) { self.desiredAccuracy = desiredAccuracy }
}
