import KeelStorage
import KeelTestKit
import Synchronization
import Testing

@Suite("A listener hub whose reader was cancelled", .timeLimit(.minutes(1)))
struct StalePumpTests {
    private final class Token: Sendable {}

    /// A task keeps the values that were bound where it began, until it has ended.
    @TaskLocal private static var token: Token?

    @Test("A page that comes after the last listener has left is told to nobody")
    func ignoresStalePages() async throws {
        let base = InMemoryStorageAdapter()
        let adapter = HeldChanges(upstream: base)
        let storage = StorageClient(adapter)
        let path: DocumentPath = "notes/ghost"
        try await storage.setDocument("notes/a", ["n": 1])
        weak var firstReader: Token?
        do {
            let token = Token()
            firstReader = token
            try await Self.$token.withValue(token) {
                var first = storage.listen(to: DocumentQuery("notes")).makeAsyncIterator()
                _ = try await first.next()
                try await adapter.holdsFirstCall()
            }
        }
        try await waitUntil { storage.hub.count == 0 }
        // The first reader's page has the document, and is delivered when that is long gone.
        try await storage.setDocument(path, ["n": 2])
        try await adapter.readsFirstPage()
        try await storage.deleteDocument(path)
        var second = storage.listen(to: DocumentQuery("notes")).makeAsyncIterator()
        #expect(try await second.next()?.documents.map(\.id) == ["a"])
        adapter.releaseFirstPage()
        // The reader takes the page in its own task.
        try await waitUntil { firstReader == nil }
        try await storage.setDocument("notes/b", ["n": 3])
        #expect(try await second.next()?.documents.map(\.id) == ["a", "b"])
    }
}

/// Holds the first call for changes until a test lets it go, whether or not it is cancelled.
private final class HeldChanges<Upstream: StorageAdapter>: StorageAdapter {
    private enum Stage: Int { case free, held, mayRead, hasRead, mayReturn }

    private let upstream: Upstream
    private let stage = Mutex(Stage.free)

    init(upstream: Upstream) { self.upstream = upstream }

    var capabilities: StorageCapabilities { upstream.capabilities }

    func holdsFirstCall() async throws { try await wait(for: .held) }

    func readsFirstPage() async throws {
        stage.withLock { $0 = .mayRead }
        try await wait(for: .hasRead)
    }

    func releaseFirstPage() { stage.withLock { $0 = .mayReturn } }

    private func wait(for wanted: Stage) async throws {
        try await waitUntil { stage.withLock { $0 == wanted } }
    }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await upstream.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isFirst = stage.withLock { stage in
            guard stage == .free else { return false }
            stage = .held
            return true
        }
        guard isFirst else { return try await upstream.changes(request) }
        // Not cancellable, like an adapter whose answer is on its way already.
        let task = Task { () async throws -> ChangePage in
            try await wait(for: .mayRead)
            let page = try await upstream.changes(request)
            stage.withLock { $0 = .hasRead }
            try await wait(for: .mayReturn)
            return page
        }
        do { return try await task.value } catch {
            throw StorageError(.unknown, "the held call failed", cause: error)
        }
    }
}
