import Foundation
import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Waiting change pages")
struct ChangePageWaitTests {
    private let adapter = InMemoryStorageAdapter()
    private let clock = TestClock()

    private var store: StorageClient { StorageClient(adapter) }

    private func service(maximumListeners: Int = 10) -> ChangeService {
        ChangeService(adapter, on: clock) { $0.maximumListeners = maximumListeners }
    }

    private func position(_ service: ChangeService) async throws -> String {
        var page = try await service.page()
        while page["complete"] == false {
            page = try await service.page("cursor=\(page["next"]?.text ?? "")")
        }
        return try #require(page["next"]?.text)
    }

    @Test("A wait ends with a change")
    func news() async throws {
        let service = service()
        let cursor = try await position(service)
        let page = Task { try await service.page("wait=30&cursor=\(cursor)&collection=a") }
        // The sleepers are the limit of the wait and the heartbeat: from here on the page waits.
        await clock.waitForSleepers(2)
        try await store.setDocument("b/1", ["n": 1])
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await page.value.paths == ["a/1"])
        #expect(service.listenerCount == 0)
    }

    @Test("A wait without relevant changes lasts until its limit")
    func nothing() async throws {
        let service = service()
        let cursor = try await position(service)
        let page = Task { try await service.page("wait=30&cursor=\(cursor)&collection=a") }
        await clock.waitForSleepers(2)
        try await store.setDocument("b/1", ["n": 1])
        for _ in 0..<5 {
            await clock.advance(by: .seconds(5))
            await clock.waitForSleepers(2)
        }
        #expect(service.listenerCount == 1)
        await clock.advance(by: .seconds(5))
        let empty = try await page.value
        #expect(empty.paths.isEmpty)
        #expect(empty["complete"] == true)
        #expect(empty["next"]?.text != cursor)
        #expect(service.listenerCount == 0)
    }

    /// The parameter of a query of one collection, of a group below a document, and of everything below one.
    private static let scopes: [String] = [
        #"{"structuredQuery":{"from":[{"collectionId":"a"}],"where":{"fieldFilter":{"field":"#
            + #"{"fieldPath":"n"},"op":"EQUAL","value":{"integerValue":"1"}}}}}"#,
        #"{"parent":"projects/keel/databases/(default)/documents/a/1","#
            + #""structuredQuery":{"from":[{"collectionId":"b","allDescendants":true}]}}"#,
        #"{"parent":"projects/keel/databases/(default)/documents/a/1","#
            + #""structuredQuery":{"from":[{"allDescendants":true}]}}"#,
    ]

    @Test("A wait for a query reads nothing for changes of other collections", arguments: scopes)
    func others(query: String) async throws {
        let recorded = adapter.recorded()
        let service = ChangeService(recorded, on: clock)
        let cursor = try await position(service)
        recorded.forget()
        let encoded = query.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let page = Task { try await service.page("wait=30&cursor=\(cursor)&query=\(encoded)") }
        await clock.waitForSleepers(2)
        /// The reads of changes of the query; the hub reads those of the whole store.
        func reads() -> Int {
            recorded.calls.count { call in
                guard case .changes(let request) = call else { return false }
                return request.scope != .everything
            }
        }
        #expect(reads() == 2)
        for number in 0..<1_000 {
            try await store.setDocument(DocumentPath("c/\(number)/b/1"), ["n": 1])
        }
        let path: DocumentPath = query.contains("parent") ? "a/1/b/1" : "a/1"
        try await store.setDocument(path, ["n": 1])
        #expect(try await page.value.paths.count == 1)
        // One read finds that there are changes, and one is the reply's.
        #expect(reads() == 4)
    }

    @Test("A page is returned immediately if no more listeners may wait")
    func full() async throws {
        let service = service(maximumListeners: 0)
        let cursor = try await position(service)
        #expect(try await service.page("wait=30&cursor=\(cursor)").paths.isEmpty)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Shutdown ends waits")
    func shutDown() async throws {
        let service = service()
        let cursor = try await position(service)
        let page = Task { try await service.page("wait=30&cursor=\(cursor)") }
        await clock.waitForSleepers(2)
        service.shutDown()
        #expect(try await page.value.paths.isEmpty)
        #expect(service.listenerCount == 0)
    }

    @Test("A client that disconnects ends its wait")
    func cancelled() async throws {
        let service = service()
        let cursor = try await position(service)
        let page = Task { try await service.ask("changes?wait=30&cursor=\(cursor)") }
        await clock.waitForSleepers(2)
        page.cancel()
        await expectError(TransportError.self, .cancelled) { try await page.value }
        #expect(service.listenerCount == 0)
    }
}
