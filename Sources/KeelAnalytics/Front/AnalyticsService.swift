package import KeelCore
internal import KeelJournal

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Tracks what happens in an app, and brings it to every destination, once.
///
/// ```swift
/// let analytics = try AnalyticsService(at: folder, configuration: configuration)
/// async let deliveries: Void = analytics.run()
/// try analytics.grantConsent(for: .analytics)
/// analytics.trackEvent("order_placed", parameters: ["items": 2, "total": 31.5])
/// ```
///
/// - A tracking call returns when the event is in a journal on disk: it survives the end of the
///   process, however that ends. It waits for no network and for no other actor.
/// - Each destination reads the journal at its own pace. One that is down for a week costs the
///   others nothing; it gets everything later, within the journal's bounds.
/// - Nothing leaves before the user consented to what it is for; see ``grantConsent(for:)``.
/// - Each event has one id, by which destinations recognise what they get twice.
/// - Every event can be accounted for: see ``ledgers()`` and ``status``.
///
/// A folder belongs to one service at a time. Deliveries are made by ``run()``, which the app keeps
/// running, or by ``flush(upTo:)``.
///
/// Tests use a service as the app does, over `ScriptedAnalyticsDestination` of KeelTestKit.
public struct AnalyticsService: Sendable {
    let tracker: Tracker
    let lanes: [DeliveryLane]
    /// Held as long as a copy of the service lives.
    private let lock: any FileLock

    /// Opens a service, making its folder where it is missing.
    ///
    /// It reads a few small files, and looks at what waits only where a denial was cut off.
    ///
    /// - Parameters:
    ///   - folder: A folder of its own.
    ///   - configuration: Where events go, and what becomes of them before.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/inUse`` if there is another service
    ///   on the folder.
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

    /// Opens a service that keeps everything in memory, for tests, previews and programs that
    /// must leave nothing on the disk.
    ///
    /// Undelivered records end with the service. Everything else is as in a folder.
    ///
    /// - Parameter configuration: Where events go, and what becomes of them before.
    /// - Returns: The service.
    /// - Throws: ``AnalyticsError`` for a configuration that contradicts itself.
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
        let board = StatusBoard()
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
            var lanes: [DeliveryLane] = []
            for entry in configuration.observedDestinations {
                lanes.append(try DeliveryLane(entry, of: tracker))
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
        // A process may have ended between a decision and what follows from it.
        if !settings.unfinishedDenials.isEmpty { try finishDenials() }
    }

    /// Reads the settings, or begins with new ones.
    private static func settings(
        in file: SettingsFile,
        _ configuration: AnalyticsConfiguration,
        _ board: StatusBoard
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
            // Perhaps the user had said no.
            fresh.hasLostConsents = true
            board.change { $0.hasLostSettings = true }
        }
        try file.write(fresh, isSynced: true)
        return fresh
    }

    // MARK: Status

    /// How it stands: what was refused, and what each destination does.
    public var status: AnalyticsStatus {
        for lane in lanes { lane.refresh() }
        return tracker.board.status
    }

    /// The status now, and each time that a delivery or a decision has changed it, without end.
    ///
    /// A reader that falls behind sees the latest.
    ///
    /// - Returns: A sequence for one reader.
    public func statuses() -> AsyncStream<AnalyticsStatus> { tracker.board.follow() }

    /// What became of every event, for each destination, counted on the disk.
    ///
    /// It looks at all that waits. ``AnalyticsLedger/isBalanced`` says whether what is there agrees
    /// with what was counted.
    ///
    /// - Returns: The ledgers by the names of the destinations.
    /// - Throws: ``AnalyticsError``.
    public func ledgers() throws(AnalyticsError) -> [String: AnalyticsLedger] {
        do throws(JournalError) {
            for lane in lanes { try lane.prepare() }
        } catch {
            throw AnalyticsError(error, "Counting the events")
        }
        for _ in 0..<3 {
            let before = tracker.appendedCount
            let ledgers = try countedLedgers()
            // Otherwise what was tracked meanwhile is in one of the counts only.
            if tracker.appendedCount == before { return ledgers }
        }
        return try tracker.paused { () throws(AnalyticsError) in try countedLedgers() }
    }

    private func countedLedgers() throws(AnalyticsError) -> [String: AnalyticsLedger] {
        var ledgers: [String: AnalyticsLedger] = [:]
        do throws(JournalError) {
            for lane in lanes { ledgers[lane.name] = try lane.ledger() }
        } catch {
            throw AnalyticsError(error, "Counting the events")
        }
        return ledgers
    }
}
