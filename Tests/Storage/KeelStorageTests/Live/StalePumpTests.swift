import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Listener hub with a canceled reader", .timeLimit(.minutes(10)))
struct StalePumpTests {
    /// Ends a stream when its last reference is released.
    private final class Token: Sendable {
        private let ending: AsyncStream<Void>.Continuation

        init(_ ending: AsyncStream<Void>.Continuation) { self.ending = ending }

        deinit { ending.finish() }
    }

    /// A task keeps the values bound at its start until it has ended.
    @TaskLocal private static var token: Token?

    @Test("A page that arrives after the last listener has left is not delivered")
    func ignoresStalePages() async throws {
        let adapter = HeldChanges(upstream: InMemoryStorageAdapter())
        let storage = StorageClient(adapter)
        let path: DocumentPath = "notes/ghost"
        try await storage.setDocument("notes/a", ["n": 1])
        let (firstReader, ending) = AsyncStream.makeStream(of: Void.self)
        try await Self.$token.withValue(Token(ending)) {
            var first = storage.listen(to: DocumentQuery("notes")).makeAsyncIterator()
            _ = try await first.next()
            // A reader that is canceled before its call makes no call.
            try await adapter.isHeld.pass()
            withExtendedLifetime(first) {}
        }
        try await adapter.isCancelled.pass()
        #expect(storage.hub.count == 0)
        // The first reader's page has the document, and is delivered long after the document is gone.
        try await storage.setDocument(path, ["n": 2])
        adapter.mayRead.open()
        try await adapter.hasRead.pass()
        try await storage.deleteDocument(path)
        var second = storage.listen(to: DocumentQuery("notes")).makeAsyncIterator()
        #expect(try await second.next()?.documents.map(\.id) == ["a"])
        adapter.mayReturn.open()
        // The reader processes the page in its own task.
        for await _ in firstReader {}
        try await storage.setDocument("notes/b", ["n": 3])
        #expect(try await second.next()?.documents.map(\.id) == ["a", "b"])
    }
}

/// Holds the first call for changes until the test releases it, even if it is canceled.
private final class HeldChanges: ForwardingStorageAdapter {
    /// Opened once the first call has arrived, and once it is canceled.
    let (isHeld, isCancelled) = (Gate(), Gate())
    /// The first call reads once `mayRead` is open, opens `hasRead`, and returns once `mayReturn` is open.
    let (mayRead, hasRead, mayReturn) = (Gate(), Gate(), Gate())

    let upstream: any StorageAdapter
    private let isFirst = Mutex(true)

    init(upstream: any StorageAdapter) { self.upstream = upstream }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        guard isFirst else { return try await upstream.changes(request) }
        // Not cancellable, like an adapter whose reply is already on its way.
        let task = Task { () async throws -> ChangePage in
            isHeld.open()
            try await mayRead.pass()
            let page = try await upstream.changes(request)
            hasRead.open()
            try await mayReturn.pass()
            return page
        }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                isCancelled.open()
            }
        } catch { throw StorageError(.unknown, "the held call failed", cause: error) }
    }
}
