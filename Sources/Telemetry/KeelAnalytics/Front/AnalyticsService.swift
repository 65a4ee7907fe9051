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
/// Events are delivered by ``run()``, which runs for the lifetime of the app, or by ``flush(upTo:)``.
///
/// One service at a time delivers the events of a folder. Another one, such as that of an extension
/// of the app, tracks into the same folder, for the same user and under the same decisions, and
/// delivers once the first has ended; see ``isDelivering``.
///
/// Tests use a service as the app does, with `ScriptedAnalyticsDestination` of KeelTestKit.
public struct AnalyticsService: Sendable {
    let tracker: Tracker
    let right: DeliveryRight

    /// The lanes of the destinations; none while another service delivers.
    var lanes: [DestinationLane] { right.lanes }

    /// Opens a service, creating its folder if needed.
    ///
    /// Reads a few small files; scans the pending records only if a denial was interrupted.
    ///
    /// - Parameters:
    ///   - folder: A folder used by the service only.
    ///   - configuration: The destinations and behavior.
    /// - Throws: ``AnalyticsError``.
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
        let lock: (any FileLock)?
        do throws(FileSystemError) {
            try files.makeFolder(folder)
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

    /// Reads the settings that another service stores.
    private static func settings(
        following file: SettingsFile,
        _ configuration: AnalyticsConfiguration
    ) throws(FileSystemError) -> AnalyticsSettings {
        if let settings = try file.peek() { return settings }
        // The other service has not stored any yet, or they are damaged: nothing is known of the decisions.
        var unknown = AnalyticsSettings(anonymousID: RecordID.random(configuration.random).text)
        unknown.hasLostConsents = true
        return unknown
    }

    /// Whether this service delivers the events of the folder.
    ///
    /// It is false while another service does, usually of another process. Then ``setUserID(_:)``,
    /// ``reset()`` and the super properties have no effect, and decisions about consent throw
    /// ``AnalyticsError/Code/inUse``; a denial applies in this process nevertheless. ``run()`` and
    /// ``flush(upTo:)`` take over once the other service has ended.
    public var isDelivering: Bool { right.isHeld }

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
    /// Scans all pending records. ``AnalyticsLedger/isBalanced`` says whether the records on disk
    /// agree with the counters. There are none while another service delivers. In a folder that
    /// several services track into, the accepted events are the sum of the others.
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
