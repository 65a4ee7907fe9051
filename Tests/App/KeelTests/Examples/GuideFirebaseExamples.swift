import Foundation
import Keel
import KeelTestKit
import Testing

#if Logging
import Logging
#endif

@Suite("Guide: coming from Firebase", .timeLimit(.minutes(1)))
struct GuideFirebaseExamples {
    struct Flags: Codable, Sendable {
        var newCheckout = false
        var pageSize = 20
    }

    #if Logging
    @Test("Two stores side by side")
    func mirrored() async throws {
        let google = InMemoryStorageAdapter()
        let sqlite = try SQLiteStorageAdapter(at: .temporary())
        let logger = Logger(label: "guide") { _ in SwiftLogNoOpLogHandler() }
        let storage = StorageClient(
            google.mirrored(to: sqlite) { event in logger.warning("\(event)") }
        )
        try await storage.setDocument("notes/1", ["text": "Hello"])
        for adapter in [google, sqlite] as [any StorageAdapter] {
            let note = try await StorageClient(adapter).getDocument("notes/1")
            #expect(note["text"] == "Hello")
        }
    }
    #endif

    @Test("Remote Config as a document")
    func flags() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        var shown: [Int] = []
        func show(_ size: Int) { shown.append(size) }

        let flags = storage.collection("config", as: Flags.self)
        try await flags.save(Flags(newCheckout: true, pageSize: 50), id: "app")
        for try await current in flags.listen("app") {
            guard let current else { continue }
            show(current.pageSize)
            break
        }
        #expect(shown == [50])
    }
}
