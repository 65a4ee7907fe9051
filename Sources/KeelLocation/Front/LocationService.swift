#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where the device is: once, continuously, and by regions.
///
/// ```swift
/// let location = LocationService.platformDefault()
/// guard try await location.requestPermission().isGranted else { return }
/// let here = try await location.currentLocation(accuracy: 50, timeout: .seconds(10))
/// for try await fix in location.fixes(minimumDistance: 10) { map.move(to: fix.coordinate) }
/// ```
///
/// The source is monitored while somebody listens, or after ``startMonitoring()``, and never
/// otherwise. Copies of a service share one monitoring. Nobody is asked for permission but by
/// ``requestPermission(_:)``.
public struct LocationService: Sendable {
    /// Limits, and the clock that they are measured on.
    public struct Configuration: Sendable {
        /// The accuracy that suffices, in metres; nil asks for the best.
        public var desiredAccuracy: Double?
        /// The age from which the last fix counts as stale.
        public var staleAfter: Duration
        /// The age from which the position counts as lost; at least ``staleAfter``.
        public var lostAfter: Duration
        /// The clock that ages and time limits are measured on.
        public var clock: any Clock<Duration>
        /// The time of day, for ``LocationState/lost(since:because:)``.
        public var now: @Sendable () -> Date

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - desiredAccuracy: The accuracy that suffices in metres; nil asks for the best.
        ///   - staleAfter: The age from which the last fix counts as stale.
        ///   - lostAfter: The age from which the position counts as lost.
        ///   - clock: The clock that ages and time limits are measured on.
        ///   - now: The time of day.
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

    /// Creates a service; nothing is monitored yet.
    ///
    /// - Parameters:
    ///   - adapter: What knows the position.
    ///   - configuration: Limits and the clock; a ``Configuration/lostAfter`` below
    ///     ``Configuration/staleAfter`` counts as the same.
    public init(
        _ adapter: any LocationAdapter,
        configuration: Configuration = Configuration()
    ) {
        var configuration = configuration
        configuration.lostAfter = max(configuration.lostAfter, configuration.staleAfter)
        hub = LocationHub(adapter, configuration)
    }

    /// Creates a service each of whose calls fails, for a place that expects one and has none.
    ///
    /// - Parameter error: What each call throws.
    public init(unavailable error: LocationError) {
        self.init(UnavailableLocationAdapter(error))
    }

    /// Which source it is, and what it can do at this moment.
    ///
    /// - Returns: What the adapter says of itself.
    public func capabilities() async -> LocationCapabilities {
        await hub.adapter.capabilities()
    }

    // MARK: Permission

    /// What the user and the system have decided; asks nobody.
    ///
    /// - Returns: The permission.
    public func permission() async -> LocationPermission { await hub.adapter.permission() }

    /// Asks the user for permission and waits for the answer, however long that takes.
    ///
    /// Where the platform asks nobody, or the user has already decided, it returns at once.
    ///
    /// - Parameter scope: For how long the app asks to know the position.
    /// - Returns: What was decided. It is more than yes or no, because "denied" and "restricted" ask the
    ///   app for different words; ``LocationPermission/isGranted`` is the short form.
    /// - Throws: ``LocationError`` with the code `unsupported` where the source cannot ask for that,
    ///   and `cancelled` when the task is.
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
                "The source \(capabilities.kind) cannot ask for the position at any time."
            )
        }
        guard !Task.isCancelled else { throw .cancellation }
        return try await hub.adapter.requestPermission(scope)
    }

    // MARK: Monitoring

    /// Keeps the source running until ``stopMonitoring()``, although nobody may listen.
    ///
    /// It makes the next ``currentLocation(accuracy:timeout:)`` and the first elements of sequences
    /// come at once. Calling it again changes nothing.
    ///
    /// - Throws: ``LocationError`` with one of the codes about permission where there is none.
    public func startMonitoring() async throws(LocationError) {
        if let refusal = await permission().refusal { throw refusal }
        guard !Task.isCancelled else { throw .cancellation }
        hub.hold(true)
    }

    /// Ends what ``startMonitoring()`` began; those who listen go on.
    public func stopMonitoring() { hub.hold(false) }

    /// What is known about the position now; nil while nobody monitors.
    public var state: LocationState? { hub.current }

    /// The newest fix since the service was made, of whatever age; nil where there was none.
    public var lastFix: LocationFix? { hub.lastFix }

    // MARK: Sequences

    /// What is known about the position, and each change of it.
    ///
    /// Each reader begins with the state of the moment; a slow one gets the newest and misses what
    /// lay in between. It never fails: a failure is ``LocationState/lost(since:because:)``. It ends
    /// with the reading task.
    public var states: LocationStates { LocationStates(hub: hub) }

    /// The fixes from now on, beginning with the present one where there is one.
    ///
    /// It waits through failures that pass, throws one that does not, and ends with the reading
    /// task. For a slow reader the newest 64 are kept.
    ///
    /// - Parameter minimumDistance: The metres that a fix must be away from the one before to be
    ///   passed on; 0 passes all on.
    /// - Returns: The fixes.
    public func fixes(minimumDistance: Double = 0) -> LocationFixes {
        LocationFixes(hub: hub, minimumDistance: minimumDistance)
    }

    /// When regions are entered and left, beginning with those that the first fix is in.
    ///
    /// Each reader has a memory of its own of where it was. Of a region it sees entering and leaving
    /// in turns, also when it is slow: fixes that it missed are left out, events never. It throws
    /// a failure that does not pass, and ends with the reading task.
    ///
    /// - Parameter regions: The regions, each with an id of its own.
    /// - Returns: The events.
    /// - Throws: ``LocationError`` with the code `invalidArgument` when two regions share an id.
    public func regionEvents(
        _ regions: [LocationRegion]
    ) throws(LocationError) -> LocationRegionEvents {
        guard Set(regions.map(\.id)).count == regions.count else {
            throw LocationError(.invalidArgument, "Two regions have the same id.")
        }
        return LocationRegionEvents(hub: hub, regions: regions)
    }
}
