import KeelStorage
internal import KeelStorageAdapting
import KeelTestKit
import Testing

/// A listener to a query that compares every snapshot with its incremental changes.
///
/// A document must not come back after it was shown to be gone: the checks create each document once.
struct ListenerFollower {
    private var snapshots: QuerySnapshots.Iterator
    private(set) var shown: [Document] = []
    private(set) var failures: [UnreadableDocument] = []
    private var gone: Set<DocumentPath> = []
    /// Whether a document leaves the result only when it is deleted.
    private let isWhole: Bool

    init(_ client: StorageClient, _ query: DocumentQuery) {
        isWhole = query.limit == nil
        snapshots = client.listen(to: query).makeAsyncIterator()
    }

    /// Takes snapshots until one shows exactly these documents and failures.
    mutating func follow(
        until expected: [Document],
        failing paths: [DocumentPath] = []
    ) async throws {
        while true {
            try await step()
            if shown == expected, failures.map(\.path) == paths { return }
        }
    }

    mutating func step() async throws {
        let snapshot = try #require(try await snapshots.next(), "listening ended without an error")
        shown.apply(snapshot.changes) { $0 }
        #expect(shown == snapshot.documents, "the steps do not lead to the snapshot")
        let paths = Set(shown.map(\.path))
        #expect(paths.count == shown.count, "a document is shown twice")
        #expect(paths.isDisjoint(with: gone), "a document came back after it was gone")
        for change in snapshot.changes {
            if case .removed = change.kind, isWhole, !paths.contains(change.document.path) {
                gone.insert(change.document.path)
            }
        }
        failures = snapshot.failures
    }
}

/// A clock on which every pause takes a millisecond, so that retries never spin.
private struct HastyClock: Clock {
    typealias Instant = TestClock.Instant

    var now: Instant { Instant() }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// The way in which listeners of a check learn of changes.
enum ListenerKind: Sendable, CaseIterable {
    case following
    case watching
    case polling

    var needs: StorageCapabilities {
        switch self {
        case .following: .changeLog
        case .watching: .queryChanges
        case .polling: []
        }
    }

    func client(
        on adapter: some StorageAdapter,
        failing faults: [StorageFault?] = []
    ) -> (client: StorageClient, callCount: @Sendable () -> Int) {
        client(on: adapter.failing(faults))
    }

    func client(
        on adapter: some StorageAdapter,
        failing fault: @escaping @Sendable (StorageCall) -> StorageFault?
    ) -> (client: StorageClient, callCount: @Sendable () -> Int) {
        client(on: adapter.failing(fault))
    }

    private func client(
        on failing: FaultInjectingStorageAdapter<some StorageAdapter>
    ) -> (client: StorageClient, callCount: @Sendable () -> Int) {
        var configuration = StorageClient.Configuration()
        configuration.clock = HastyClock()
        let client =
            switch self {
            case .following: StorageClient(failing, configuration: configuration)
            case .watching, .polling:
                StorageClient(
                    PolledStorageAdapter(upstream: failing, followsQueries: self == .watching),
                    configuration: configuration
                )
            }
        return (client, { failing.callCount })
    }
}
