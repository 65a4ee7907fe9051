import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Reads of the past over the Firestore protocol")
struct PointInTimeTests {
    private let paths = (0..<700).map { DocumentPath("a/\($0)") }

    private func fill(_ store: some StorageAdapter, n: Int64) async throws {
        let client = StorageClient(store)
        for start in stride(from: 0, to: paths.count, by: 400) {
            let writes = try paths[start..<min(start + 400, paths.count)].map { path in
                try DocumentWrite.set(["n": .integer(n)], at: path)
            }
            try await client.commit(writes)
        }
    }

    private func numbers(_ result: ReadResult) -> Set<Int64?> {
        guard case .documents(let documents) = result.payload else { return [] }
        return Set(documents.map { $0?["n"]?.integerValue })
    }

    @Test("Documents of several requests have one read time on request")
    func severalRequests() async throws {
        let store = InMemoryStorageAdapter(history: .seconds(3600))
        try await fill(store, n: 1)
        for adapter in [try Served.keel(store), Served.plain(store)] {
            var request = ReadRequest(.documents(paths))
            request.needsTime = true
            let result = try await adapter.read(request)
            #expect(numbers(result) == [1])
            try await fill(store, n: 2)
            let time: Timestamp = try #require(result.time)
            request.asOf = time
            #expect(numbers(try await adapter.read(request)) == [1])
            request.asOf = nil
            #expect(numbers(try await adapter.read(request)) == [2])
            try await fill(store, n: 1)
        }
    }

    @Test("Documents of several requests are consistent despite concurrent writes")
    func severalRequestsAmongWrites() async throws {
        let store = InMemoryStorageAdapter(history: .seconds(3600))
        try await fill(store, n: 0)
        let meddled = MeddledStorageAdapter(
            store,
            afterReads: { count in try await fill(store, n: count) }
        )
        for adapter in [try Served.keel(meddled), Served.plain(meddled)] {
            let documents = try await StorageClient(adapter).findDocuments(paths)
            #expect(documents.count == 700)
            #expect(Set(documents.map { $0?["n"]?.integerValue }).count == 1)
        }
        #expect(meddled.readCount > 4)
    }

    @Test("A server without a history returns documents without a read time")
    func withoutHistory() async throws {
        let store = InMemoryStorageAdapter()
        try await fill(store, n: 1)
        let adapter = try Served.keel(store)
        var request = ReadRequest(.documents(paths))
        request.needsTime = true
        let result = try await adapter.read(request)
        #expect(numbers(result) == [1])
        #expect(result.time == nil)
        let client = StorageClient(adapter)
        await #expect(throws: StorageError.self) { _ = try await client.currentTime() }
    }

    @Test("A time before the server's history is too old, with Keel's own code")
    func tooOld() async throws {
        let adapter = try Served.keel(InMemoryStorageAdapter(history: .seconds(3600)))
        let then = try StorageClient(adapter).asOf(Timestamp(microseconds: -1))
        do {
            _ = try await then.getDocument("a/1")
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == .snapshotTooOld)
        }
    }
}
