internal import KeelCore
package import KeelDocuments
package import KeelStorageAdapting
internal import Synchronization

/// The moment of a store at which a long result or a read-only transaction reads.
///
/// A store without a history holds its state for one minute after each ``renew()``, until the moment ends.
package final class ReadMoment: Sendable {
    private static let holding = Duration.seconds(60)
    private static let renewing = Duration.seconds(10)

    package let time: Timestamp

    private let adapter: any StorageAdapter
    private let principal = StorageContext.current.principal
    /// Nil over a store with a history.
    private let timeline: Timeline?
    private let longest: Duration?
    private let begin: Duration
    /// The time of the last hold; nil once the moment has ended.
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

    /// Returns a moment that the store's history reaches.
    package convenience init(ofHistory time: Timestamp, in adapter: any StorageAdapter) {
        self.init(time, in: adapter, nil, nil)
    }

    /// Takes the present moment, held for at most `longest`.
    ///
    /// - Returns: The moment; nil if the store can neither read the past nor hold a state, or already holds as many
    ///   states as it can.
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
            request.holdDuration = holding
        } else {
            return nil
        }
        guard let time = try await adapter.read(request).time else { return nil }
        return ReadMoment(time, in: adapter, isPast ? nil : Timeline(clock), longest)
    }

    package var isAging: Bool {
        guard let timeline, let last = lastHold.withLock({ $0 }) else { return false }
        return timeline.now - last >= Self.renewing
    }

    /// Renews the hold if it is old enough.
    ///
    /// - Throws: `StorageError/Code/snapshotTooOld` if the store no longer holds the state, or the longest total hold
    ///   is exceeded.
    package func renew() async throws(StorageError) {
        guard let timeline, let last = lastHold.withLock({ $0 }) else { return }
        let now = timeline.now
        guard now - last >= Self.renewing else { return }
        if let longest, now - begin > longest {
            await end()
            throw StorageError(
                .snapshotTooOld,
                "the snapshot has been held for \(longest), the maximum; read less at a time"
            )
        }
        try await hold(for: Self.holding)
        lastHold.withLock { if $0 != nil { $0 = now } }
    }

    package func end() async {
        // A store would refuse a canceled task; `deinit` releases the state then.
        guard !Task.isCancelled, lastHold.withLock({ $0.take() }) != nil else { return }
        // A store that fails here releases the state when the hold expires.
        try? await hold(for: .zero)
    }

    private func hold(for duration: Duration) async throws(StorageError) {
        let request = request(for: duration)
        _ = try await StorageContext.current.of(principal)
            .run { [adapter] () async throws(StorageError) in try await adapter.read(request) }
    }

    deinit {
        // A canceled task, for example of a disconnected client, drops the moment without ending it.
        guard lastHold.withLock({ $0.take() }) != nil else { return }
        let request = request(for: .zero)
        let context = StorageContext().of(principal)
        Task { [adapter] in await context.bind { _ = try? await adapter.read(request) } }
    }

    private func request(for duration: Duration) -> ReadRequest {
        var request = ReadRequest(.documents([]))
        (request.asOf, request.holdDuration) = (time, duration)
        return request
    }
}
