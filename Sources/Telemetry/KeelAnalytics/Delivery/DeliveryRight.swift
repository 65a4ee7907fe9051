internal import KeelCore
internal import KeelJournal
internal import Synchronization

/// The right to deliver the events of a folder and to store its settings, which one service at a time has.
final class DeliveryRight: Sendable {
    private struct State {
        /// Held as long as a copy of the service exists; nil while another service has it.
        var lock: (any FileLock)?
        var lanes: [DestinationLane] = []
    }

    private let tracker: Tracker
    private let folder: String
    private let files: any FileSystem
    private let state: Mutex<State>
    /// Orders the calls of ``take()``, which must not hold the state: a tracker's lock may be held above it.
    private let turn = Mutex(())

    /// Creates the right of a service; the lock is nil if another service holds it.
    init(
        _ lock: (any FileLock)?,
        of tracker: Tracker,
        in folder: String,
        _ files: any FileSystem
    ) throws(JournalError) {
        self.tracker = tracker
        self.folder = folder
        self.files = files
        let lanes: [DestinationLane] = try lock == nil ? [] : Self.lanes(of: tracker)
        state = Mutex(State(lock: lock, lanes: lanes))
    }

    private static func lanes(of tracker: Tracker) throws(JournalError) -> [DestinationLane] {
        var lanes: [DestinationLane] = []
        for entry in tracker.configuration.observedDestinations {
            lanes.append(try DestinationLane(entry, of: tracker))
        }
        return lanes
    }

    static func lock(
        _ folder: String,
        _ files: any FileSystem
    ) throws(FileSystemError) -> (any FileLock)? {
        do throws(FileSystemError) {
            return try files.lock("\(folder)/analytics.lock")
        } catch {
            guard error.kind == .busy else { throw error }
            return nil
        }
    }

    var lanes: [DestinationLane] { state.withLock { $0.lanes } }

    var isHeld: Bool { state.withLock { $0.lock != nil } }

    /// Takes the right if no service has it; returns whether this service has it now.
    func take() throws(AnalyticsError) -> Bool {
        try turn.withLock { _ throws(AnalyticsError) in
            guard !isHeld else { return true }
            let found: (any FileLock)?
            do throws(FileSystemError) {
                found = try Self.lock(folder, files)
            } catch {
                throw AnalyticsError(error, "Opening analytics in \(folder)")
            }
            guard let lock = found else { return false }
            // Before the lanes, which deliver by its consents.
            do throws(FileSystemError) {
                try tracker.lead()
            } catch {
                throw AnalyticsError(error, "Reading the settings in \(folder)")
            }
            let lanes: [DestinationLane]
            do throws(JournalError) {
                lanes = try Self.lanes(of: tracker)
            } catch {
                tracker.follow()
                throw AnalyticsError(error, "Opening the destinations")
            }
            state.withLock { $0 = State(lock: lock, lanes: lanes) }
            return true
        }
    }
}
