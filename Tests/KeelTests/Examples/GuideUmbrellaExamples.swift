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

    private func run() async throws {
        @Dependency(\.storage) var storage
        try await storage.setDocument("notes/1", ["text": "Hello"])
    }
}
