package import KeelCore
internal import KeelJournal

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Tracks events in an app and delivers them to every destination, once.
///
/// ```swift
/// let analytics = try AnalyticsService(at: folder, configuration: configuration)
/// async let deliveries: Void = analytics.run()
/// try analytics.grantConsent(for: .analytics)
/// analytics.trackEvent("order_placed", parameters: ["items": 2, "total": 31.5])
/// ```
///
/// - A tracking call returns when the event is in a journal on disk, where it survives any end of
///   the process. It waits for no network and no other actor.
/// - Each destination reads the journal at its own pace. One with a week-long outage does not
///   affect the others; it receives everything later, within the journal's bounds.
/// - Nothing is sent before the user consents to its purpose; see ``grantConsent(for:)``.
/// - Each event has one id, by which destinations deduplicate.
/// - Every event is accounted for: see ``ledgers()`` and ``status``.
///
/// Only one service at a time can use a folder. Events are delivered by ``run()``, which runs for
/// the lifetime of the app, or by ``flush(upTo:)``.
///
/// Tests use a service as the app does, with `ScriptedAnalyticsDestination` of KeelTestKit.
public struct AnalyticsService: Sendable {
    let tracker: Tracker
    let lanes: [DestinationLane]
    /// Held as long as a copy of the service exists.
    private let lock: any FileLock

    /// Opens a service, creating its folder if needed.
    ///
    /// Reads a few small files; scans the pending records only if a denial was interrupted.
    ///
    /// - Parameters:
    ///   - folder: A folder used by the service only.
    ///   - configuration: The destinations and behavior.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/inUse`` if it is in use.
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

    /// Returns a service that stores everything in memory, for tests, previews and programs that
    /// must not write to disk.
    ///
    /// Undelivered records are lost with the service. Otherwise it behaves as with a folder.
    ///
    /// - Parameter configuration: The destinations and behavior.
    /// - Returns: The service.
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
        do throws(FileSystemError) {
            try files.makeFolder(folder)
            lock = try files.lock("\(folder)/analytics.lock")
            settings = try Self.settings(in: file, configuration, board)
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
                configuration: configuration
            )
            var lanes: [DestinationLane] = []
            for entry in configuration.observedDestinations {
                lanes.append(try DestinationLane(entry, of: tracker))
            }
            self.tracker = tracker
            self.lanes = lanes
            board.change { status in
                status.consents = settings.consents
                status.hasPersonalUserID = configuration.isPersonal(settings.userID)
            }
        } catch {
            throw AnalyticsError(error, "Opening analytics in \(folder)")
        }
        // The previous process may have ended between a denial and the removal of its records. A failure is in the
        // status: nothing of them is sent anyway, and an app must be able to open its analytics.
        if !settings.unfinishedDenials.isEmpty { try? finishDenials() }
    }

    /// Reads the settings, or creates new ones.
    private static func settings(
        in file: SettingsFile,
        _ configuration: AnalyticsConfiguration,
        _ board: StateBroadcast<AnalyticsStatus>
    ) throws(FileSystemError) -> AnalyticsSettings {
        var fresh = AnalyticsSettings(
            anonymousID: RecordID.random(configuration.random).text
        )
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

    // MARK: Status

    /// The current status: refused calls, and the activity of each destination.
    public var status: AnalyticsStatus {
        for lane in lanes { lane.refresh() }
        return tracker.board.value
    }

    /// Returns an endless stream of the current status and each change by a delivery or a decision.
    ///
    /// A slow reader receives only the latest status.
    ///
    /// - Returns: A stream for one reader.
    public func statusUpdates() -> AsyncStream<AnalyticsStatus> { tracker.board.watch() }

    /// Returns the fate of every event, per destination, counted on disk.
    ///
    /// Scans all pending records. ``AnalyticsLedger/isBalanced`` tells whether the records on disk
    /// agree with the counters.
    ///
    /// - Returns: The ledgers by destination name.
    /// - Throws: ``AnalyticsError``.
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
        for lane in lanes {
            let status = try lane.counted()
            var ledger = AnalyticsLedger(status.note, status.losses)
            ledger.accepted = (status.base ?? 0) + status.appended
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
