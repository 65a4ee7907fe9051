#if SQLite
import KeelTestSupport
import Foundation
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Documents that cannot be unsealed", .timeLimit(.minutes(1)))
struct UnreadableDocumentTests {
    private let folder: TemporaryFolder
    private let sealing = RefusingByteSealing()
    private let adapter: SQLiteStorageAdapter

    init() async throws {
        folder = try TemporaryFolder()
        let sealing = sealing
        adapter = try folder.adapter { $0.sealing = sealing }
        for number in 0..<4 { try await adapter.set("a/\(number)", ["n": .integer(Int64(number))]) }
        try await adapter.set("b/0", ["n": 0])
    }

    @Test("A page of changes names them and contains the others")
    func pages() async throws {
        let start = try #require(try await position())
        for number in 0..<4 {
            try await adapter.set("a/\(number)", ["n": .integer(Int64(10 + number))])
        }
        sealing.refuse("a/1")
        for request in [
            ChangeRequest(after: start), ChangeRequest(),
            ChangeRequest(scope: .collections(["a"])),
        ] {
            let page = try await adapter.changes(request)
            let failures = page.changes.compactMap { change in
                if case .unreadable(let document) = change { document } else { nil }
            }
            #expect(failures.map(\.path) == ["a/1"])
            #expect(failures.first?.error.code == .corrupted)
            #expect(Set(page.changes.map(\.path)).isSuperset(of: ["a/0", "a/1", "a/2", "a/3"]))
        }
    }

    @Test("The changes of a query with a limit name one of them that is removed")
    func followedResult() async throws {
        let query = DocumentQuery("a").order(by: "n").limit(to: 10)
        sealing.refuse("a/1")
        let first = try await adapter.changes(ChangeRequest(followingResultOf: query))
        #expect(first.changes.contains { $0.path == "a/1" })
        try await adapter.delete("a/1")
        let next = ChangeRequest(after: first.next, followingResultOf: query)
        let gone = try await adapter.changes(next).changes.filter { change in
            if case .leftScope = change { true } else { false }
        }
        #expect(gone.map(\.path) == ["a/1"])
    }

    @Test("A read reports them on request and fails otherwise")
    func reads() async throws {
        try await adapter.prepare(StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])]))
        sealing.refuse("a/1")
        let all = DocumentQuery("a")
        for query in [
            all, all.limit(to: 2), all.where(.greater("n", 0)), all.order(by: "n").limit(to: 2),
            DocumentQuery(group: "a"),
        ] {
            var request = ReadRequest(.query(try QueryValidation.checked(query)))
            await #expect(throws: StorageError.self) { try await adapter.read(request) }
            request.reportsUnreadable = true
            let result = try await adapter.read(request)
            let documents = try result.found
            #expect(result.unreadable.map(\.path) == ["a/1"], "\(query)")
            #expect(documents.count >= 2 && !documents.map(\.path).contains("a/1"))
        }
        var request = ReadRequest(.documents(["a/0", "a/1", "a/9"]))
        request.reportsUnreadable = true
        let result = try await adapter.read(request)
        let documents = try result.documents
        #expect(documents.map { $0?.path } == ["a/0", nil, nil])
        #expect(result.unreadable.map(\.path) == ["a/1"])
    }

    @Test("A read of the past opens only the states of that time, and reports those that it cannot")
    func pastReads() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter { configuration in
            configuration.sealing = FakeByteSealing(key: 42)
            configuration.history = .seconds(3_600)
        }
        try await adapter.set("a/0", ["n": 0])
        try await adapter.set("a/1", ["n": 1])
        let time = try await adapter.set("a/2", ["n": 2]).commitTime
        try await adapter.set("a/1", ["n": 10])
        try await adapter.set("a/2", ["n": 20])
        var request = ReadRequest(.query(try QueryValidation.checked(DocumentQuery("a"))))
        request.asOf = time
        let damage = "body = substr(body, 1, length(body) - 3) WHERE id = '1'"
        try await Tampering.run("UPDATE documents SET \(damage)", on: adapter)
        let before = try await adapter.read(request).found
        #expect(before.map(\.id) == ["0", "1", "2"])
        try await Tampering.run("UPDATE history SET \(damage)", on: adapter)
        await #expect(throws: StorageError.self) { try await adapter.read(request) }
        request.reportsUnreadable = true
        let result = try await adapter.read(request)
        let documents = try result.found
        #expect(documents.map(\.id) == ["0", "2"])
        #expect(result.unreadable.map(\.path) == ["a/1"])
    }

    @Test("An iteration throws for each of them once, and continues with the others")
    func iterations() async throws {
        let client = StorageClient(adapter)
        let notes = client.collection("c", as: [String: Int].self)
        try await client.commit { batch in
            for number in 0..<350 { try batch.set("c/\(100 + number)", ["n": .integer(1)]) }
        }
        sealing.refuse("c/201")
        for query in [
            DocumentQuery("c"), DocumentQuery("c").order(by: "n"),
            DocumentQuery("c").order(by: "n", .descending).limit(toLast: 400),
        ] {
            var documents = client.documents(matching: query).makeAsyncIterator()
            let (ids, failures) = await Self.results { () async throws(StorageError) in
                try await documents.next()?.id
            }
            #expect(ids.sorted() == (100..<450).map(String.init).filter { $0 != "201" }, "\(query)")
            #expect(failures.map(\.code) == [.corrupted], "\(query)")
        }
        // Without an index, each page scans the collection and finds the document.
        var values = notes.all { $0.order(by: "n") }.makeAsyncIterator()
        let (found, failures) = await Self.results { () async throws(StorageError) in
            try await values.next()?["n"]
        }
        #expect(found.count == 349 && failures.map(\.code) == [.corrupted])
    }

    @Test("An iteration with a limit does not count them")
    func limitedIterations() async throws {
        sealing.refuse("a/0")
        let notes = StorageClient(adapter).collection("a", as: [String: Int].self)
        // Without an index, the page scans the collection and finds the document.
        var values = notes.all { $0.order(by: "n").limit(to: 1) }.makeAsyncIterator()
        let (found, failures) = await Self.results { () async throws(StorageError) in
            try await values.next()?["n"]
        }
        #expect(found == [1] && failures.map(\.code) == [.corrupted])
    }

    /// Iterates to the end, and returns the elements and the errors.
    private static func results<Element>(
        _ next: () async throws(StorageError) -> Element?
    ) async -> ([Element], [StorageError]) {
        var (elements, errors): ([Element], [StorageError]) = ([], [])
        while errors.count < 1_000 {
            do throws(StorageError) {
                guard let element = try await next() else { break }
                elements.append(element)
            } catch {
                errors.append(error)
            }
        }
        return (elements, errors)
    }

    @Test("Listeners name them, continue, and show them when readable again")
    func listeners() async throws {
        let client = StorageClient(adapter)
        var snapshots = client.listen(to: DocumentQuery("a")).makeAsyncIterator()
        var others = client.listen(to: DocumentQuery("b")).makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.count == 4)
        #expect(try await others.next()?.documents.count == 1)
        // Creating a document does not require reading it.
        sealing.refuse("a/9")
        try await adapter.set("a/9", ["n": 20])
        var snapshot = try #require(try await snapshots.next())
        #expect(snapshot.failures.map(\.path) == ["a/9"] && snapshot.documents.count == 4)
        try await adapter.set("b/1", ["n": 1])
        #expect(try await others.next()?.documents.count == 2)
        sealing.refuse(nil)
        try await adapter.set("a/9", ["n": 21])
        snapshot = try #require(try await snapshots.next())
        #expect(snapshot.failures.isEmpty && snapshot.documents.count == 5)
    }

    @Test("They can be removed and replaced without leaving index entries")
    func removes() async throws {
        try await adapter.prepare(StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])]))
        sealing.refuse("a/1")
        let client = StorageClient(adapter)
        await #expect(throws: StorageError.self) {
            try await client.updateDocument("a/1", [FieldChange("n", .set(7))])
        }
        try await client.deleteDocument("a/1")
        #expect(try await client.queryDocuments(DocumentQuery("a").order(by: "n")).count == 3)
        sealing.refuse("a/2")
        try await client.setDocument("a/2", ["n": 0])
        sealing.refuse(nil)
        let found = try await client.queryDocuments(DocumentQuery("a").order(by: "n"))
        #expect(found.map(\.id) == ["0", "2", "3"])
        #expect(try await client.findDocument("a/1") == nil)
        #expect(try await adapter.checkIntegrity().problems == [])
    }

    private func position() async throws -> ChangeCursor? {
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        return try await adapter.read(request).position
    }
}
#endif
