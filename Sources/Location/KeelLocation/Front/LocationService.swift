#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A service for the device's position: once, continuously or by region.
///
/// ```swift
/// let location = LocationService.platformDefault()
/// guard try await location.requestPermission().isGranted else { return }
/// let here = try await location.currentLocation(accuracy: 50, timeout: .seconds(10))
/// for try await fix in location.fixes(minimumDistance: 10) { map.move(to: fix.coordinate) }
/// ```
///
/// The source is monitored only while there are listeners, or after ``startMonitoring()``. Copies of a service share
/// the monitoring. Only ``requestPermission(_:)`` asks the user for permission.
public struct LocationService: Sendable {
    /// The settings of a service.
    public struct Configuration: Sendable {
        /// The sufficient accuracy in meters, a hint that saves power; nil requests the best.
        public var desiredAccuracy: Double?
        /// The age at which the last fix becomes stale.
        public var staleAfter: Duration
        /// The age at which the position is considered lost; at least ``staleAfter``.
        public var lostAfter: Duration
        /// The clock for ages and timeouts.
        public var clock: any Clock<Duration>
        /// Returns the time of day, for ``LocationState/lost(since:because:)``.
        public var now: @Sendable () -> Date

        /// Creates a configuration.
        public init(
            desiredAccuracy: Double? = nil,
            staleAfter: Duration = .seconds(10),
            lostAfter: Duration = .seconds(60),
            clock: any Clock<Duration> = ContinuousClock(),
            now: @escaping @Sendable () -> Date = { Date() }
        ) {
            self.desiredAccuracy = desiredAccuracy
            self.staleAfter = staleAfter
            self.lostAfter = lostAfter
            self.clock = clock
            self.now = now
        }
    }

    let hub: LocationHub

    /// Creates a service; monitoring does not start yet.
    ///
    /// - Parameters:
    ///   - adapter: The source of positions.
    ///   - configuration: Limits and clocks; a ``Configuration/lostAfter`` below
    ///     ``Configuration/staleAfter`` is raised to it.
    public init(
        _ adapter: any LocationAdapter,
        configuration: Configuration = Configuration()
    ) {
        var configuration = configuration
        configuration.lostAfter = max(configuration.lostAfter, configuration.staleAfter)
        hub = LocationHub(adapter, configuration)
    }

    /// Creates a service without a source, for which requests for permission and positions fail with the given error.
    ///
    /// - Parameter error: The error. If it is transient, ``currentLocation(accuracy:timeout:)`` throws it as the cause
    ///   of `timedOut`, and sequences wait.
    public init(unavailable error: LocationError) {
        self.init(UnavailableLocationAdapter(error))
    }

    /// Returns the kind of source and its current capabilities.
    public func capabilities() async -> LocationCapabilities {
        await hub.adapter.capabilities()
    }

    // MARK: Permission

    /// Returns the current permission, without asking the user.
    public func permission() async -> LocationPermission { await hub.adapter.permission() }

    /// Asks the user for permission and waits for the answer, without a timeout.
    ///
    /// The method returns immediately if the platform needs no permission or the user has already decided.
    ///
    /// - Parameter scope: When the app wants access to the position.
    /// - Returns: The decision.
    /// - Throws: ``LocationError`` with the code `unsupported` if the source cannot ask for the scope, `cancelled` if
    ///   the task is canceled, or an error of the source.
    @discardableResult
    public func requestPermission(
        _ scope: LocationPermission.Scope = .whenInUse
    ) async throws(LocationError) -> LocationPermission {
        let capabilities = await hub.adapter.capabilities()
        if scope == .always, capabilities.features.contains(.asksPermission),
            !capabilities.features.contains(.asksForAlways)
        {
            throw LocationError(
                .unsupported,
                "The source \(capabilities.kind) cannot request the permission “always”."
            )
        }
        guard !Task.isCancelled else { throw .cancellation }
        return try await hub.adapter.requestPermission(scope)
    }

    // MARK: Monitoring

    /// Keeps the source monitored until ``stopMonitoring()``, even without listeners.
    ///
    /// While there is a current fix, ``currentLocation(accuracy:timeout:)`` and new sequences then have it immediately.
    /// Repeated calls have no effect.
    ///
    /// - Throws: ``LocationError`` with a permission code if permission is missing, or `cancelled`.
    public func startMonitoring() async throws(LocationError) {
        if let refusal = await permission().refusal { throw refusal }
        guard !Task.isCancelled else { throw .cancellation }
        hub.hold(true)
    }

    /// Ends the effect of ``startMonitoring()``; listeners are not affected.
    public func stopMonitoring() { hub.hold(false) }

    /// The current state; nil while the source is not monitored.
    public var state: LocationState? { hub.current }

    /// The newest fix that the service has received, at any age.
    public var lastFix: LocationFix? { hub.lastFix }

    // MARK: Sequences

    /// A sequence of the current state and each change.
    ///
    /// A slow reader skips to the newest state. The sequence never throws: a failure is the state
    /// ``LocationState/lost(since:because:)``. It ends with the reading task.
    public var states: LocationStates { LocationStates(hub: hub) }

    /// Returns a sequence of fixes, starting with the current one if there is one that is not stale.
    ///
    /// The sequence waits during transient failures, throws other failures, and ends with the reading task. The newest
    /// 64 fixes are buffered for a slow reader.
    ///
    /// - Parameter minimumDistance: The minimum distance in meters from the previously returned fix; 0 returns all.
    /// - Returns: The sequence.
    public func fixes(minimumDistance: Double = 0) -> LocationFixes {
        LocationFixes(hub: hub, minimumDistance: minimumDistance)
    }

    /// Returns a sequence of region events, entering and leaving, which starts with the first fix.
    ///
    /// For each region, each reader receives entering and leaving events alternately. A slow reader skips to the newest
    /// fix, and so misses a region that was entered and left meanwhile. The sequence throws non-transient failures and
    /// ends with the reading task.
    ///
    /// - Parameter regions: The regions, with unique ids.
    /// - Returns: The sequence.
    /// - Throws: ``LocationError`` with the code `invalidArgument` if two regions have the same id.
    public func regionEvents(
        _ regions: [LocationRegion]
    ) throws(LocationError) -> LocationRegionEvents {
        guard Set(regions.map(\.id)).count == regions.count else {
            throw LocationError(.invalidArgument, "Two regions have the same id.")
        }
        return LocationRegionEvents(hub: hub, regions: regions)
    }
}
