#if PostgreSQL
internal import Foundation
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// Raises a signal when any adapter has committed to the store.
///
/// The first waiting request starts a thread with a connection. There, the server announces commits; an announcement is
/// only a hint to read the sequence in the tail. A pooler forwards none, so behind one the thread polls the sequence
/// while requests wait.
final class ChangeWatch: Sendable {
    private struct State {
        var waiterCount = 0
        /// The highest sequence that the signal was raised for, or that a waiting request has seen.
        var sequence = Int64.min
        var hasThread = false
        var isListening = false
        var isClosed = false
    }

    private static let shortestPause = Duration.milliseconds(10)
    private static let longestPause = Duration.milliseconds(500)
    /// The interval at which the sequence is read even if announcements are received.
    private static let longestSilence = Duration.seconds(5)

    private let settings: ConnectionSettings
    private let answerLimit: Duration
    private let store: Int64
    private let signal: Signal
    private let pipe: WakePipe
    private let state = Mutex(State())

    init(
        _ settings: ConnectionSettings,
        answerLimit: Duration,
        store: Int64,
        raising signal: Signal
    ) throws(StorageError) {
        self.settings = settings
        self.answerLimit = answerLimit
        self.store = store
        self.signal = signal
        pipe = try WakePipe()
    }

    deinit { close() }

    static func announcement(of store: Int64) -> DatabaseStatement {
        DatabaseStatement("SELECT pg_notify('keel', $1)") { $0.add(text: "\(store)") }
    }

    /// Begins to watch for a request that has seen the changes up to a sequence.
    ///
    /// - Returns: Whether there are later changes already. Call ``end()`` in any case.
    func begin(after sequence: Int64) -> Bool {
        let (isBehind, isAhead, starts) = state.withLock { state in
            let isBehind = state.sequence > sequence
            // The thread now takes the sequence for known, but requests that wait already have not seen it.
            let isAhead = sequence > state.sequence && state.waiterCount > 0
            state.waiterCount += 1
            state.sequence = max(state.sequence, sequence)
            defer { state.hasThread = state.hasThread || !state.isClosed }
            return (isBehind, isAhead, !state.hasThread && !state.isClosed)
        }
        if isAhead { signal.raise() }
        if starts { start() }
        // Ends a pause that grew while no request waited.
        pipe.wake()
        return isBehind
    }

    func end() { state.withLock { $0.waiterCount -= 1 } }

    /// The sequence up to which listeners know of changes; nil if nothing is followed.
    var followed: Int64? {
        state.withLock {
            $0.hasThread && ($0.isListening || $0.waiterCount > 0) ? $0.sequence : nil
        }
    }

    /// Records a commit of this adapter, which needs no announcement.
    func saw(_ sequence: Int64) {
        state.withLock { $0.sequence = max($0.sequence, sequence) }
        signal.raise()
    }

    func close() {
        state.withLock { $0.isClosed = true }
        pipe.wake()
    }

    // MARK: The thread

    private func start() {
        let thread = Thread { [weak self, settings, answerLimit, store, pipe] in
            let connection = DatabaseConnection(settings, pipe: pipe, answerLimit: answerLimit)
            var follower = Follower(connection, store: store)
            // Between two turns, nothing keeps the watch, so that it ends with its adapter.
            while let pause = self?.turn(&follower) { follower.wait(upTo: pause) }
        }
        thread.name = "keel.postgresql.watch"
        thread.start()
    }

    /// Raises the signal if there is a new sequence; returns the time until the next turn, nil at the end.
    private func turn(_ follower: inout Follower) -> Duration? {
        let (isClosed, isWaiting, known) = state.withLock {
            ($0.isClosed, $0.waiterCount > 0, $0.sequence)
        }
        guard !isClosed else { return nil }
        if let sequence = follower.sequence(isWanted: isWaiting) {
            let isNew = state.withLock { state in
                // Another server, or a restored dump, may lack the last changes that were known; a pooler keeps the
                // connection then.
                let isNew = sequence < known || sequence > state.sequence
                if isNew { state.sequence = sequence }
                return isNew
            }
            if isNew {
                signal.raise()
                follower.pause = Self.shortestPause
            }
        }
        state.withLock { [isListening = follower.isListening] in $0.isListening = isListening }
        guard !follower.isListening else { return Self.longestSilence }
        defer { follower.pause = min(follower.pause * 2, Self.longestPause) }
        // A wait for the server may have taken the wake-up of a request that has come meanwhile.
        return state.withLock { $0.waiterCount > 0 } ? follower.pause : .seconds(3600)
    }

    private struct Follower {
        private let connection: DatabaseConnection
        private let store: Int64
        /// Whether the server announces commits to the connection.
        private(set) var isListening = false
        var pause = ChangeWatch.shortestPause

        init(_ connection: DatabaseConnection, store: Int64) {
            self.connection = connection
            self.store = store
        }

        /// Returns the sequence of the store's last change; nil if it is unknown.
        mutating func sequence(isWanted: Bool) -> Int64? {
            do {
                if !connection.isOpen {
                    isListening = false
                    guard isWanted else { return nil }
                    try connection.openIfNeeded()
                }
                if connection.isDirect, !isListening {
                    try connection.run(DatabaseStatement("LISTEN keel"))
                    isListening = true
                }
                guard isListening || isWanted else { return nil }
                let rows = try connection.run(
                    DatabaseStatement("SELECT seq FROM keel.stores WHERE store = $1") {
                        $0.add(store)
                    }
                )
                return rows.first?.integer(0)
            } catch {
                // The next turn connects again.
                connection.close()
                isListening = false
                return nil
            }
        }

        mutating func wait(upTo limit: Duration) {
            guard isListening else {
                try? connection.pause(limit)
                return
            }
            let deadline = ContinuousClock.now + limit
            while ContinuousClock.now < deadline {
                do {
                    let payloads = try connection.notifications(upTo: deadline - .now)
                    // Those of other stores of the database do not concern this one.
                    if payloads.isEmpty || payloads.contains("\(store)") { return }
                } catch {
                    isListening = false
                    return
                }
            }
        }
    }
}
#endif
