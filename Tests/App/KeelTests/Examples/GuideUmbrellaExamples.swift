import Foundation
import Keel
import KeelDependencies
import KeelTestKit
import Testing

@Suite("Guide: the overview")
struct GuideUmbrellaExamples {
    struct Note: Codable, Identifiable, Sendable {
        var id: String
        var text: String
    }

    @Test("The same code over another backend")
    func switching() async throws {
        func backend() throws -> StorageClient {
            StorageClient(try SQLiteStorageAdapter(at: .temporary()))
        }
        let stores = [
            StorageClient(InMemoryStorageAdapter()),
            try backend(),
            StorageClient(
                InMemoryStorageAdapter().failing([.fail(.unavailable)]).retrying(.attempts(3))
            ),
        ]
        for storage in stores {
            let notes = storage.collection("notes", as: Note.self)
            try await notes.save(Note(id: "1", text: "Hello"))
            #expect(try await notes.get("1").text == "Hello")
        }
    }

    @Test("An app is put together in one place")
    func composition() async throws {
        let keel = KeelConfiguration.test()
        let storage = try keel.makeStorage()
        let network = keel.makeNetwork()
        let files = try keel.makeFiles()
        try await withDependencies {
            $0.storage = storage
            $0.network = network
            $0.files = files
        } operation: {
            try await run()
        }
        #expect(try await storage.count(DocumentQuery("notes")) == 1)
    }

    @Test("Security, analytics and caches are made in the same place, and one run is for all")
    func everything() async throws {
        let keel = KeelConfiguration.test()
        let security = keel.makeSecurity()
        let analytics = try keel.makeAnalytics()
        let caches = try keel.makeCaches()
        var work = BackgroundWork()
        work.add(caches)
        work.add(analytics)
        try await withDependencies {
            $0.security = security
            $0.analytics = analytics
            $0.caches = caches
        } operation: {
            try await work.run { try await app() }
        }
        #expect(analytics.userID == "u-17")
    }

    @Sendable
    private func app() async throws {
        @Dependency(\.security) var security
        @Dependency(\.analytics) var analytics
        @Dependency(\.caches) var caches
        let sealed = try security.encrypt(Data("Hello".utf8))
        let plain = try security.decrypt(sealed)
        await caches.cache("texts", key: Int.self, value: Data.self).set(plain, for: 1)
        analytics.setUserID("u-17")
    }

    private func run() async throws {
        @Dependency(\.storage) var storage
        try await storage.setDocument("notes/1", ["text": "Hello"])
    }
}
