#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// The connections of an adapter to standbys, and the commit that a standby needs to answer a read.
final class StandbyPool: Sendable {
    private struct State {
        var sightings = TailSightings()
        /// Until when standbys are not tried, because none was reachable.
        var absence = Duration.zero
    }

    private static let absencePause = Duration.seconds(30)

    /// Its writing connection is never opened.
    private let standbys: ConnectionPool
    private let primary: ConnectionPool
    private let store: OpenStore
    private let timeline: Timeline
    private let questions = SingleFlight<Int, Void>()
    private let state = Mutex(State())

    init(
        _ settings: ConnectionSettings,
        beside primary: ConnectionPool,
        of store: OpenStore,
        _ configuration: PostgreSQLStorageAdapter.Configuration
    ) throws(StorageError) {
        standbys = try ConnectionPool(
            settings,
            readerCount: configuration.readerCount,
            answerLimit: configuration.answerTimeout,
            clock: configuration.clock
        )
        self.primary = primary
        self.store = store
        timeline = Timeline(configuration.clock)
    }

    func close() async { await standbys.close() }

    private var isAbsent: Bool {
        let now = timeline.now
        return state.withLock { now < $0.absence }
    }

    private func noteAbsence() {
        let end = timeline.now + Self.absencePause
        state.withLock { $0.absence = end }
    }

    /// Returns the commit that a standby needs to answer a read that begins now; nil if the primary has to answer.
    ///
    /// - Throws: `StorageError/Code/cancelled`.
    func sighting(
        allowing staleness: Duration
    ) async throws(StorageError) -> TailSightings.Sighting? {
        let now = timeline.now
        guard !isAbsent else { return nil }
        let isDue = state.withLock { $0.sightings.isQuestionDue(at: now, allowing: staleness) }
        if isDue {
            do {
                try await questions.run(0) { [self] in try await ask() }
            } catch {
                // While no primary answers, an earlier sighting may still do.
                guard !Task.isCancelled else { throw StorageError.cancellation }
            }
        }
        return state.withLock { $0.sightings.first(since: now - staleness) }
    }

    private func ask() async throws {
        state.withLock { $0.sightings.noteQuestion(at: timeline.now) }
        let (time, tail) = try await primary.reading(isQuick: true) {
            [store, timeline] connection -> (Duration, StoreTail) in
            let time = timeline.now
            return (time, try StoreTail(connection.run(store.tailStatement())))
        }
        // A pooler may have passed the question on to a standby.
        guard let current = tail.serverTimeline else { return }
        let sighting = TailSightings.Sighting(
            time: time,
            sequence: tail.sequence,
            timeline: current,
            tables: tail.tables
        )
        state.withLock { $0.sightings.insert(sighting) }
    }

    /// Runs a read on a standby.
    ///
    /// - Returns: The result; nil if the primary has to answer, because no standby is reachable or the read failed.
    /// - Throws: `StorageError/Code/cancelled`, `StorageError/Code/closed` or `StorageError/Code/timeout`.
    func reading<Value: Sendable>(
        isQuick: Bool,
        _ work: @escaping @Sendable (DatabaseConnection) throws -> Value?
    ) async throws(StorageError) -> Value? {
        do throws(StorageError) {
            return try await standbys.reading(isQuick: isQuick) { [self] connection -> Value? in
                let wasOpen = connection.isOpen
                // Another read may have found no standby while this one waited for its turn.
                guard wasOpen || !isAbsent else { return nil }
                do {
                    return try work(connection)
                } catch let failure as DatabaseFailure
                    where !wasOpen && failure.isConnectionLost
                {
                    // Noted before the next read has its turn. A pool with too many connections continues with fewer.
                    if !failure.isLackOfConnections { noteAbsence() }
                    throw failure
                }
            }
        } catch {
            if let failure = error.cause as? DatabaseFailure {
                if failure.isConnectionLost { noteAbsence() }
                return nil
            }
            guard ![.cancelled, .closed, .timeout].contains(error.code) else { throw error }
            // The primary may have what the standby still lacks, such as an index; otherwise it throws the same error.
            return nil
        }
    }
}
#endif
