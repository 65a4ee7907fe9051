internal import KeelCore
package import KeelDocuments
package import KeelStorageAdapting
internal import Synchronization

/// The moment of a store that a long result, or a transaction that only reads, is read at.
///
/// A store with a history can read it as long as the history goes back. Another one holds its state,
/// for a minute from each ``renew()`` on, until the moment ends.
package final class ReadMoment: Sendable {
    /// How long the store holds the state, if it is not told to hold it longer.
    private static let holding = Duration.seconds(60)
    /// How old a state becomes before it is held anew.
    private static let renewing = Duration.seconds(10)

    /// The time to read as of.
    package let time: Timestamp

    private let adapter: any StorageAdapter
    /// Nil over a store with a history.
    private let timeline: Timeline?
    /// The longest that the state is held; nil for as long as it is asked for.
    private let longest: Duration?
    private let begin: Duration
    /// When the state was last asked to be held; nil once the moment has ended.
    private let lastHold: Mutex<Duration?>

    private init(
        _ time: Timestamp,
        in adapter: any StorageAdapter,
        _ timeline: Timeline?,
        _ longest: Duration?
    ) {
        self.time = time
        self.adapter = adapter
        self.timeline = timeline
        self.longest = longest
        begin = timeline?.now ?? .zero
        lastHold = Mutex(timeline == nil ? nil : begin)
    }

    /// Takes the present moment.
    ///
    /// - Parameters:
    ///   - adapter: The store.
    ///   - clock: The clock that the age of a state is measured on.
    ///   - longest: The longest that the store holds the state; nil for as long as it is asked for.
    /// - Returns: Nil if the store can neither read the past nor hold a state, or holds as many states as it
    ///   can.
    /// - Throws: What the store throws.
    package static func present(
        of adapter: any StorageAdapter,
        on clock: any Clock<Duration>,
        upTo longest: Duration? = nil
    ) async throws(StorageError) -> ReadMoment? {
        var request = ReadRequest(.documents([]))
        let capabilities = adapter.capabilities
        let isPast = capabilities.contains(.pointInTimeReads)
        if isPast {
            request.needsTime = true
        } else if capabilities.contains(.heldReads) {
            request.heldFor = holding
        } else {
            return nil
        }
        guard let time = try await adapter.read(request).time else { return nil }
        return ReadMoment(time, in: adapter, isPast ? nil : Timeline(clock), longest)
    }

    /// Whether the store has held the state for so long that it is to be told to go on.
    package var isAging: Bool {
        guard let timeline, let last = lastHold.withLock({ $0 }) else { return false }
        return timeline.now - last >= Self.renewing
    }

    /// Lets the store hold the state longer, if it has held it for some time.
    ///
    /// - Throws: `StorageError/Code/snapshotTooOld` if the store holds it no more, or it has been held for
    ///   as long as it may be.
    package func renew() async throws(StorageError) {
        guard let timeline, let last = lastHold.withLock({ $0 }) else { return }
        let now = timeline.now
        guard now - last >= Self.renewing else { return }
        if let longest, now - begin > longest {
            await end()
            throw StorageError(
                .snapshotTooOld,
                "the store has held the moment that is read for \(longest); ask for less at once"
            )
        }
        _ = try await adapter.read(request(for: Self.holding))
        lastHold.withLock { if $0 != nil { $0 = now } }
    }

    /// Lets go of the state.
    package func end() async {
        // A store would answer a cancelled task with an error: then the last user's end does it.
        guard !Task.isCancelled, lastHold.withLock({ $0.take() }) != nil else { return }
        // A store that fails here lets go of it by itself.
        _ = try? await adapter.read(request(for: .zero))
    }

    deinit {
        // The work for a client that has gone ends wherever it is.
        guard lastHold.withLock({ $0.take() }) != nil else { return }
        let request = request(for: .zero)
        Task { [adapter] in _ = try? await adapter.read(request) }
    }

    private func request(for duration: Duration) -> ReadRequest {
        var request = ReadRequest(.documents([]))
        (request.asOf, request.heldFor) = (time, duration)
        return request
    }
}
