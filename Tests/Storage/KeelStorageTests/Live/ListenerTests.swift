import KeelStorage
import KeelTestKit
import Testing

@Suite("Listeners")
struct ListenerTests {
    let storage = StorageClient(InMemoryStorageAdapter())

    @Test("The first snapshot is the current result, and the next one contains the changes")
    func follows() async throws {
        try await storage.setDocument("notes/a", ["n": 1])
        var snapshots = storage.listen(to: DocumentQuery("notes").order(by: "n"))
            .makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first.documents.map(\.id) == ["a"])
        try await storage.setDocument("notes/b", ["n": 0])
        let second = try #require(try await snapshots.next())
        #expect(second.documents.map(\.id) == ["b", "a"])
        #expect(second.changes.map(\.kind) == [.added(at: 0)])
        try await storage.updateDocument("notes/b", [FieldChange("n", .set(2))])
        let third = try #require(try await snapshots.next())
        #expect(third.documents.map(\.id) == ["a", "b"])
        #expect(third.changes.map(\.kind) == [.modified(from: 0, to: 1)])
        try await storage.deleteDocument("notes/a")
        let fourth = try #require(try await snapshots.next())
        #expect(fourth.changes.map(\.kind) == [.removed(from: 0)])
    }

    @Test("A limited result refills when a document leaves it")
    func refills() async throws {
        for number in 0..<40 {
            try await storage.setDocument("notes/\(number)", ["n": .integer(Int64(number))])
        }
        let query = DocumentQuery("notes").order(by: "n").limit(to: 3)
        var snapshots = storage.listen(to: query).makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.map(\.id) == ["0", "1", "2"])
        for number in 0..<30 {
            try await storage.deleteDocument("notes/\(number)")
            let snapshot = try #require(try await snapshots.next())
            #expect(snapshot.documents.map(\.id) == (1...3).map { "\(number + $0)" })
            #expect(snapshot.changes.map(\.kind) == [.removed(from: 0), .added(at: 2)])
        }
    }

    @Test("A document's listener shows that it does not exist and continues")
    func showsMissing() async throws {
        var snapshots = storage.listenToDocument("notes/1").makeAsyncIterator()
        #expect(try await snapshots.next()?.exists == false)
        try await storage.setDocument("notes/1", ["text": "Hello"])
        #expect(try await snapshots.next()?.document?["text"] == "Hello")
        try await storage.deleteDocument("notes/1")
        #expect(try await snapshots.next()?.exists == false)
        try await storage.setDocument("notes/1", ["text": "Again"])
        #expect(try await snapshots.next()?.document?["text"] == "Again")
    }

    @Test("Listening ends with the iterating task, and the reader with the last listener")
    func closes() async throws {
        let storage = storage
        let task = Task {
            var seen = 0
            for try await _ in storage.listenToDocument("notes/1") { seen += 1 }
            return seen
        }
        try await waitUntil { storage.hub.count != 0 }
        task.cancel()
        #expect(try await task.value <= 1)
        try await waitUntil { storage.hub.count == 0 }
    }
}
