import KeelCore
import KeelStorage
import Synchronization

/// The moment of the store that a long reply, or a transaction that only reads, is read at.
///
/// A store with a history can read it as long as the history goes back. Another one holds its state,
/// for a minute from each ``renew()`` on, until the moment ends.
final class ReadMoment: Sendable {
    /// How long the store holds the state, if it is not told to hold it longer.
    private static let holding = Duration.seconds(60)
    /// How old a state becomes before it is held anew.
    private static let renewing = Duration.seconds(10)

    /// The time to read as of.
    let time: Timestamp

    private let adapter: any StorageAdapter
    /// Nil over a store with a history.
    private let timeline: Timeline?
    private let longest: Duration
    private let begin: Duration
    /// When the state was last asked to be held; nil once the moment has ended.
    private let lastHold: Mutex<Duration?>

    private init(
        _ time: Timestamp,
        in adapter: any StorageAdapter,
        _ timeline: Timeline?,
        _ longest: Duration
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
    /// - Returns: Nil if the store can neither read the past nor hold a state, or holds as many states as it
    ///   can.
    static func present(
        of adapter: any StorageAdapter,
        _ configuration: StorageServer.Configuration
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
        let timeline = isPast ? nil : Timeline(configuration.clock)
        return ReadMoment(time, in: adapter, timeline, configuration.longestMoment)
    }

    /// Lets the store hold the state longer, if it has held it for some time.
    ///
    /// - Throws: `StorageError/Code/snapshotTooOld` if the store holds it no more, or it has been held for
    ///   as long as it may be.
    func renew() async throws(StorageError) {
        guard let timeline, let last = lastHold.withLock({ $0 }) else { return }
        let now = timeline.now
        guard now - last >= Self.renewing else { return }
        guard now - begin <= longest else {
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
    func end() async {
        guard lastHold.withLock({ $0.take() }) != nil else { return }
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
