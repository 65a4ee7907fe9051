#if ServiceLifecycle
import Foundation
import HTTPTypes
import Keel
import KeelAnalytics
import KeelServiceLifecycle
import KeelServing
import KeelTestKit
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import UnixSignals

@Suite("Guide: on a server", .timeLimit(.minutes(1)))
struct GuideServerExamples {
    /// The routes of an app in addition to those of the store.
    struct Site: ServingHandler {
        let store: StorageServer

        func respond(to call: HTTPCall) async -> HTTPReply {
            guard call.head.path == "/version" else { return await store.respond(to: call) }
            let body = HTTPByteStream.chunks([Array("2.1".utf8)])
            return HTTPReply(head: HTTPResponse(status: .ok), body: body)
        }
    }

    private let folder = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")
    private let logger = Logger(label: "guide") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a group, and ends it as SIGTERM would once the outbox and the analytics have work.
    private func end(_ group: ServiceGroup, after work: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await work()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test("A group of services that delivers at its end")
    func services() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let vendor = ScriptedAnalyticsDestination("vendor")
        var settings = AnalyticsConfiguration()
        settings.add(vendor)
        let transport = ScriptedHTTPTransport(then: .status(204))
        let api = URL(string: "https://api.example") ?? folder
        let network = NetworkClient(baseURL: api, transport: transport)
        let outbox = Outbox(StorageClient(InMemoryStorageAdapter()))
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let app = LifecycleService("app") {
            beginning.finish()
            try await gracefulShutdown()
        }

        let analytics = try AnalyticsService(
            at: folder.appending(path: "analytics"),
            configuration: settings
        )
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: transport.service()),
                    .init(service: analytics.service()),
                    .init(service: outbox.service(sending: HTTPOutboxSender(network))),
                    .init(service: app),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )

        try analytics.grantConsent(for: .analytics)
        try await end(group) {
            for await _ in begun {}
            analytics.trackEvent("order_placed")
            let write = OutboxWrite(key: "orders/1", kind: "PUT", body: Array("{}".utf8))
            try await outbox.enqueue(write)
        }
        #expect(try analytics.ledgers()["vendor"]?.delivered == 1)
    }

    @Test("A part of one's own")
    func ownService() async throws {
        let isWritten = Mutex(false)
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let reports = LifecycleService("reports", finishTimeout: .seconds(5)) {
            beginning.finish()
            try await gracefulShutdown()
        } finish: {
            isWritten.withLock { $0 = true }
        }
        let group = ServiceGroup(services: [reports], logger: logger)
        try await end(group) { for await _ in begun {} }
        #expect(isWritten.withLock { $0 })
    }

    @Test("A store served next to an app's own routes")
    func served() async throws {
        let store = StorageServer(adapter: InMemoryStorageAdapter())
        let site = Site(store: store)
        let address = try #require(URL(string: "http://127.0.0.1"))

        // A client of the store in the same process: its requests as a server would receive them.
        let client = StorageClient(
            FirestoreStorageAdapter(.keel(address), transport: HandlerTransport(site))
        )
        try await client.setDocument("notes/1", ["text": "Hello"])
        #expect(try await client.getDocument("notes/1")["text"] == "Hello")
        store.shutDown()

        let request = HTTPRequest(
            method: .get,
            scheme: "http",
            authority: "127.0.0.1",
            path: "/version"
        )
        #expect(await site.respond(to: HTTPCall(request)).head.status == .ok)
    }
}
#endif
