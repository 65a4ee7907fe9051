import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@testable import KeelServing

@Suite("Streams whose store does not let them read changes", .timeLimit(.minutes(2)))
struct ListenOutageTests {
    /// The documents that a client has received, and why its targets were removed.
    private final class Received: Sendable {
        private let documents = Mutex<Set<DocumentPath>>([])
        private let removals = Mutex<[Int32: FirestoreStatus]>([:])

        var paths: Set<DocumentPath> { documents.withLock { $0 } }
        var causes: [Int32: FirestoreStatus] { removals.withLock { $0 } }

        func note(_ response: ListenResponse) {
            switch response {
            case .document(let change): documents.withLock { _ = $0.insert(change.document.path) }
            case .target(let change) where change.kind == .remove:
                for id in change.targets { removals.withLock { $0[id] = change.cause?.status } }
            case .target, .departure, .filter: break
            }
        }
    }

    /// A store whose rules keep users from a document, and which may lack the right to read another one.
    private struct RuledStore: ForwardingStorageAdapter {
        struct MissingRight: Error {}

        let upstream: any StorageAdapter = InMemoryStorageAdapter()
        var lacksRight = false

        func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
            guard !lacksRight || request.operation != .documents(["notes/1"]) else {
                let message = "the role lacks a right"
                throw StorageError(.permissionDenied, message, cause: MissingRight())
            }
            let isUser = StorageContext.current.principal != nil
            guard !isUser || request.operation != .documents(["secrets/1"]) else {
                throw StorageError(.permissionDenied, "it belongs to somebody else")
            }
            return try await upstream.read(request)
        }
    }

    private static let user = StorageContext().of(StoragePrincipal(id: "ann"))

    private let clock = TestClock()
    private let received = Received()
    private let requests = AsyncStream.makeStream(of: ListenRequest.self)

    /// Serves a stream of a principal.
    private func serve(_ store: any StorageAdapter) -> Task<StreamFailure?, Never> {
        var configuration = ListenStream.Configuration()
        configuration.clock = clock
        let stream = ListenStream(
            hub: ListenHub(adapter: store, clock: clock),
            configuration: configuration
        ) { [received] response in
            received.note(response)
        }
        // Reads of a few documents have no limit on the clock.
        let content = ListenTarget.Content.documents(["notes/1"])
        requests.continuation.yield(.add(ListenTarget(id: 2, content: content)))
        let events = requests.stream
        return Task { await Self.user.bind { await stream.run(events) } }
    }

    /// Moves the clock on until the task is canceled.
    private func advance() -> Task<Void, Never> {
        let clock = clock
        return Task { while !Task.isCancelled { await clock.advance(by: .seconds(1)) } }
    }

    @Test(
        "A hub whose requests are all refused pauses between them, and ends its streams at last",
        arguments: [
            .permissionDenied, .unauthenticated, .corrupted, .unavailable, .cursorExpired,
            .cancelled,
        ] as [StorageError.Code]
    )
    func refusedHub(code: StorageError.Code) async throws {
        try await endsAfterPauses(RefusingStore(InMemoryStorageAdapter(), code), code)
    }

    @Test(
        "A stream whose own requests are all refused pauses between them, and ends at last",
        arguments: [.unavailable, .cursorExpired, .cancelled] as [StorageError.Code]
    )
    func refusedStream(code: StorageError.Code) async throws {
        let store = RefusingStore(InMemoryStorageAdapter(), code, refusesAll: true)
        try await endsAfterPauses(store, code)
    }

    private func endsAfterPauses(_ store: RefusingStore, _ code: StorageError.Code) async throws {
        let stream = serve(store)
        // The heartbeat of the stream, and the pause of the hub or of the stream itself.
        try await waitUntil { store.refusals > 0 && clock.sleeperCount == 2 }
        // A position that has expired is left at once, but only the first one.
        #expect(store.refusals <= (code == .cursorExpired ? 2 : 1))
        let advancing = advance()
        let failure = await stream.value
        advancing.cancel()
        #expect(failure?.status == .unavailable)
        #expect(store.refusals == ListenHub.mostFailures)
    }

    @Test("A hub whose requests are refused for a while goes on, and ends no stream")
    func passing() async throws {
        let memory = InMemoryStorageAdapter()
        let times = ListenHub.mostFailures - 1
        let store = RefusingStore(memory, .permissionDenied, times: times)
        let stream = serve(store)
        let advancing = advance()
        try await waitUntil { store.refusals == times }
        try await StorageClient(memory).setDocument("notes/1", ["n": 1])
        try await waitUntil { received.paths == ["notes/1"] }
        advancing.cancel()
        requests.continuation.finish()
        #expect(await stream.value == nil)
    }

    @Test("A target that rules of the adapter refuse ends, and its stream goes on")
    func refusedTarget() async throws {
        let store = RuledStore()
        let stream = serve(store)
        let content = ListenTarget.Content.documents(["secrets/1"])
        requests.continuation.yield(.add(ListenTarget(id: 4, content: content)))
        try await waitUntil { received.causes[4] != nil }
        #expect(received.causes == [4: .permissionDenied])
        try await StorageClient(store.upstream).setDocument("notes/1", ["n": 1])
        try await waitUntil { received.paths == ["notes/1"] }
        requests.continuation.finish()
        #expect(await stream.value == nil)
    }

    @Test("A stream ends if the store does not let its server read what a target needs")
    func refusedServer() async throws {
        let stream = serve(RuledStore(lacksRight: true))
        let advancing = advance()
        let failure = await stream.value
        advancing.cancel()
        #expect(failure?.status == .unavailable)
        #expect(received.causes.isEmpty)
    }

    @Test(
        "Keel's own change streams end in the same way",
        arguments: [.permissionDenied, .unavailable, .cursorExpired] as [StorageError.Code]
    )
    func changeStream(code: StorageError.Code) async throws {
        let store = RefusingStore(InMemoryStorageAdapter(), code)
        let service = ChangeService(store, on: clock)
        let advancing = advance()
        try await Self.user.bind {
            var stream = try await service.stream()
            while try await stream.nextName() != nil {}
        }
        advancing.cancel()
        #expect(store.refusals == ListenHub.mostFailures)
    }
}

/// A store that refuses to read changes for callers without a principal, or for all callers.
final class RefusingStore: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let code: StorageError.Code
    private let refusesAll: Bool
    private let state: Mutex<(refused: Int, left: Int)>

    init(
        _ upstream: any StorageAdapter,
        _ code: StorageError.Code,
        times: Int = .max,
        refusesAll: Bool = false
    ) {
        self.upstream = upstream
        self.code = code
        self.refusesAll = refusesAll
        state = Mutex((refused: 0, left: times))
    }

    /// The number of requests that were refused.
    var refusals: Int { state.withLock { $0.refused } }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isConcerned = refusesAll || StorageContext.current.principal == nil
        let isRefused = state.withLock { state in
            guard isConcerned, state.left > 0 else { return false }
            state.left -= 1
            state.refused += 1
            return true
        }
        guard !isRefused else { throw StorageError(code, "made to fail") }
        return try await upstream.changes(request)
    }
}
