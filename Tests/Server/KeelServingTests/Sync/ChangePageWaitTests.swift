import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Waiting change pages")
struct ChangePageWaitTests {
    private let adapter = InMemoryStorageAdapter()
    private let clock = TestClock()

    private var store: StorageClient { StorageClient(adapter) }

    private func service(maximumListeners: Int = 10) -> ChangeService {
        var configuration = ChangeService.Configuration()
        configuration.clock = clock
        configuration.maximumListeners = maximumListeners
        return ChangeService(adapter: adapter, configuration: configuration)
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
        let error = await #expect(throws: TransportError.self) { try await page.value }
        #expect(error?.code == .cancelled)
        #expect(service.listenerCount == 0)
    }
}
