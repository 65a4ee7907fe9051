package import KeelCore
internal import KeelJournal

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A service that tracks events and delivers each once to every destination.
///
/// ```swift
/// let analytics = try AnalyticsService(at: folder, configuration: configuration)
/// async let deliveries: Void = analytics.run()
/// try analytics.grantConsent(for: .analytics)
/// analytics.trackEvent("order_placed", parameters: ["items": 2, "total": 31.5])
/// ```
///
/// - A tracking call returns when the event is in a journal on disk, where it survives any end of the process. It never
///   waits for the network or an actor.
/// - Each destination reads the journal at its own pace. A destination that is down for a week does not affect the
///   others; it receives all events later, within the journal's limits.
/// - Nothing is sent before the user consents to its purpose; see ``grantConsent(for:)``.
/// - Each event has an id, with which destinations recognize duplicates.
/// - Every event is accounted for: see ``ledgers()`` and ``status``.
///
/// Deliver events with ``run()``, for the lifetime of the app, or with ``flush(upTo:)``.
///
/// One service at a time delivers the events of a folder. Other services, such as that of an app extension, track into
/// the same folder, with the same user and consent, and take over when the first has ended; see ``isDelivering``.
///
/// In tests, use a service with `ScriptedAnalyticsDestination` of KeelTestKit.
public struct AnalyticsService: Sendable {
    let tracker: Tracker
    let right: DeliveryRight

    var lanes: [DestinationLane] { right.lanes }

    /// Opens a service, creating its folder if needed.
    ///
    /// The initializer reads a few small files. It scans the pending records only if a denial was interrupted, or for a
    /// new destination that starts with the next event.
    ///
    /// - Parameters:
    ///   - folder: A folder that is used only for analytics.
    ///   - configuration: The destinations and behavior.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/invalidArgument`` for an invalid configuration.
    public init(
        at folder: URL,
        configuration: AnalyticsConfiguration
    ) throws(AnalyticsError) {
        try self.init(
            at: folder.path(percentEncoded: false),
            configuration: configuration,
            files: DiskFileSystem()
        )
    }

    /// Returns a service that stores everything in memory, for tests, previews and programs that must not write to
    /// disk.
    ///
    /// Undelivered records are lost with the service.
    ///
    /// - Throws: ``AnalyticsError`` for an invalid configuration.
    public static func inMemory(
        _ configuration: AnalyticsConfiguration = AnalyticsConfiguration()
    ) throws(AnalyticsError) -> AnalyticsService {
        try AnalyticsService(
            at: "/analytics",
            configuration: configuration,
            files: MemoryFileSystem()
        )
    }

    package init(
        at path: String,
        configuration: AnalyticsConfiguration,
        files: any FileSystem
    ) throws(AnalyticsError) {
        try configuration.check()
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        let file = SettingsFile(in: folder, files: files)
        let board = StateBroadcast(AnalyticsStatus())
        let settings: AnalyticsSettings
        let lock: (any FileLock)?
        do throws(FileSystemError) {
            try files.makeFolder(folder)
            try file.makeFirst { Self.unknownUser(configuration) }
            lock = try DeliveryRight.lock(folder, files)
            settings =
                try lock == nil
                ? Self.settings(following: file, configuration)
                : Self.settings(in: file, configuration, board)
        } catch {
            throw AnalyticsError(error, "Opening analytics in \(folder)")
        }
        do throws(JournalError) {
            var bounds = configuration.journal
            bounds.now = configuration.now
            let journal = try Journal(
                at: "\(folder)/journal",
                configuration: bounds,
                files: files
            )
            let tracker = Tracker(
                settings,
                in: file,
                journal: journal,
                board: board,
                configuration: configuration,
                isFollowing: lock == nil
            )
            self.tracker = tracker
            right = try DeliveryRight(lock, of: tracker, in: folder, files)
            board.change { status in
                status.consents = settings.consents
                status.hasPersonalUserID = configuration.isPersonal(settings.userID)
            }
        } catch {
            throw AnalyticsError(error, "Opening analytics in \(folder)")
        }
        // The previous process may have ended between a denial and the removal of its records. A failure is in the
        // status: nothing of them is sent anyway, and an app must be able to open its analytics.
        if right.isHeld, !settings.unfinishedDenials.isEmpty { try? finishDenials() }
    }

    private static func unknownUser(_ configuration: AnalyticsConfiguration) -> AnalyticsSettings {
        AnalyticsSettings(anonymousID: RecordID.random(configuration.random).text)
    }

    /// Reads the settings, or creates new ones in place of damaged ones.
    private static func settings(
        in file: SettingsFile,
        _ configuration: AnalyticsConfiguration,
        _ board: StateBroadcast<AnalyticsStatus>
    ) throws(FileSystemError) -> AnalyticsSettings {
        var fresh = unknownUser(configuration)
        switch try file.read() {
        case .settings(let settings):
            if settings.hasLostConsents { board.change { $0.hasLostSettings = true } }
            return settings
        case .nothing: break
        case .damaged:
            // The lost decisions may have been denials.
            fresh.hasLostConsents = true
            board.change { $0.hasLostSettings = true }
        }
        try file.write(fresh, isSynced: true)
        return fresh
    }

    private static func settings(
        following file: SettingsFile,
        _ configuration: AnalyticsConfiguration
    ) throws(FileSystemError) -> AnalyticsSettings {
        if let settings = try file.peek() { return settings }
        // They are damaged: nothing is known of the decisions.
        var unknown = unknownUser(configuration)
        unknown.hasLostConsents = true
        return unknown
    }

    /// Whether this service delivers the events of the folder.
    ///
    /// False while another service, usually of another process, delivers. Then ``setUserID(_:)``, ``reset()`` and
    /// changes of super properties have no effect, and consent decisions throw ``AnalyticsError/Code/inUse``, although
    /// a denial still applies in this process. ``run()`` and ``flush(upTo:)`` take over once the other service has
    /// ended.
    public var isDelivering: Bool { right.isHeld }

    // MARK: Status

    /// The current status: refused calls, and the activity of each destination.
    public var status: AnalyticsStatus {
        for lane in lanes { lane.refresh() }
        return tracker.board.value
    }

    /// Returns an endless stream, for one reader, of the current status and each change of it.
    ///
    /// A slow reader receives only the latest status.
    public func statusUpdates() -> AsyncStream<AnalyticsStatus> { tracker.board.watch() }

    /// Returns the counts of delivered, pending and dropped events by destination name, by scanning all pending
    /// records.
    ///
    /// ``AnalyticsLedger/isBalanced`` says whether the records on disk agree with the counters. The result is empty
    /// while another service delivers. In a folder that several services track into, the count of accepted events is
    /// the sum of the others.
    ///
    /// - Throws: ``AnalyticsError`` if the journal cannot be read.
    public func ledgers() throws(AnalyticsError) -> [String: AnalyticsLedger] {
        try AnalyticsError.mapped("Counting the events") { () throws(JournalError) in
            try countPending()
            for _ in 0..<3 {
                let before = tracker.appendedCount
                let ledgers = try countedLedgers()
                // Otherwise a record tracked in the meantime is in only one of the counts.
                if tracker.appendedCount == before { return ledgers }
            }
            return try tracker.paused { () throws(JournalError) in try countedLedgers() }
        }
    }

    private func countedLedgers() throws(JournalError) -> [String: AnalyticsLedger] {
        var ledgers: [String: AnalyticsLedger] = [:]
        let isShared = tracker.isShared
        for lane in lanes {
            let status = try lane.counted()
            var ledger = AnalyticsLedger(status.note, status.losses)
            if !isShared { ledger.accepted = (status.base ?? 0) + status.appended }
            ledgers[lane.name] = ledger
        }
        return ledgers
    }

    /// Counts the records that were pending when the service was opened, once.
    func countPending() throws(JournalError) {
        for lane in lanes {
            if try lane.prepare() { continue }
            _ = try tracker.paused { () throws(JournalError) in try lane.prepare() }
        }
    }
}
