import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import Testing

/// The stores that an app shares with its extensions, in the folder of their App Group.
private func shared(in group: URL, api: URL) -> KeelConfiguration {
    var keel = KeelConfiguration.production("Notes", api: api)
    keel.storage = .file(group.appending(path: "Notes.sqlite"))
    keel.files = .folder(group.appending(path: "Files"))
    keel.analytics = .folder(group.appending(path: "Analytics"))
    keel.logs = .file(group.appending(path: "Logs/app.log"))
    return keel
}

/// The work of the app and of its background tasks.
private struct Refresh: Sendable {
    let outbox: Outbox
    let sender: HTTPOutboxSender
    let analytics: AnalyticsService
    let caches: CacheStore

    /// Sends what waits, and returns when the system's time is over at the latest.
    func callAsFunction() async {
        _ = try? await outbox.flush(sending: sender)
        await analytics.flush(upTo: .seconds(10))
        try? await caches.flush()
    }
}

@Suite("Guide: Xcode", .timeLimit(.minutes(1)))
struct GuideXcodeExamples {
    private let folder = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")
    private let api = URL(string: "https://api.example.com") ?? .temporaryDirectory

    @Test("Two programs on one store see each other's changes")
    func sharedStore() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try shared(in: folder, api: api).makeStorage()
        let widget = try shared(in: folder, api: api).makeStorage()
        try await app.setDocument("notes/1", ["text": "Milk"])
        var isWritten = false
        for try await snapshot in widget.listenToDocument("notes/1") {
            if snapshot.document?["text"] == "Bread" { break }
            if !isWritten { try await app.setDocument("notes/1", ["text": "Bread"]) }
            isWritten = true
        }
        #expect(try await widget.getDocument("notes/1")["text"] == "Bread")
    }

    @Test("A background task sends what waits")
    func refreshed() async throws {
        let keel = KeelConfiguration.test()
        let transport = ScriptedHTTPTransport(then: .status(.noContent))
        let outbox = Outbox(StorageClient(InMemoryStorageAdapter()))
        try await outbox.enqueue(OutboxWrite(key: "notes/1", kind: "unknown"))
        let refresh = Refresh(
            outbox: outbox,
            sender: HTTPOutboxSender(NetworkClient(baseURL: api, transport: transport)),
            analytics: try keel.makeAnalytics(),
            caches: try keel.makeCaches()
        )
        await refresh()
        #expect(try await outbox.pending().isEmpty)
        #expect(try await outbox.rejected().count == 1)
    }
}
