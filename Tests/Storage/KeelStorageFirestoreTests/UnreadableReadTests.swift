import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Documents that a server cannot read")
struct UnreadableReadTests {
    /// Returns a store of ten documents, two of them in a version that is unknown to the server.
    private func store() async throws -> some StorageAdapter {
        let store = InMemoryStorageAdapter()
        let batches = (0..<10).map { number in
            let fields: DocumentFields =
                [3, 9].contains(number) ? ["_version": 9, "n": 1] : ["n": .integer(Int64(number))]
            return WriteBatch([DocumentWrite(Self.path(number), .set(DocumentBody(fields)))])
        }
        for result in try await store.commit(batches) { _ = try result.get() }
        return store.migrating(DocumentMigrations([DocumentMigration("a", to: 1) { _, _ in }]))
    }

    private static func path(_ number: Int) -> DocumentPath { DocumentPath("a/\(number)") }

    private static let readable = (0..<10).filter { ![3, 9].contains($0) }.map(path)

    @Test("A read names them next to the others on request")
    func asked() async throws {
        let adapter = try Served.keel(try await store())
        for operation in [
            ReadOperation.query(try QueryValidation.checked(DocumentQuery("a"))),
            .documents((0..<10).map(Self.path) + ["a/none"]),
        ] {
            var request = ReadRequest(operation)
            request.reportsUnreadable = true
            let result = try await adapter.read(request)
            switch result.payload {
            case .found(let documents): #expect(documents.map(\.path) == Self.readable)
            case .documents(let documents):
                #expect(documents.count == 11)
                #expect(documents.compactMap(\.self).map(\.path) == Self.readable)
            case .values, .names: Issue.record("another answer")
            }
            #expect(result.unreadable.map(\.path) == [Self.path(3), Self.path(9)])
            #expect(result.unreadable.allSatisfy { $0.error.code == .schemaTooNew })
        }
    }

    @Test("A document that this client cannot decode is named next to the others on request")
    func undecodable() async throws {
        func document(_ id: String, _ value: String) -> String {
            #"{"name": "projects/p/databases/(default)/documents/a/\#(id)", "fields": {"n": \#(value)}, "#
                + #""createTime": "1970-01-01T00:00:05Z", "updateTime": "1970-01-01T00:00:05Z"}"#
        }
        let values = [("1", #"{"integerValue": "1"}"#), ("2", #"{"laterValue": 2}"#)]
        let documents = values.map(document)
        let found = "[" + documents.map { #"{"found": \#($0)}"# }.joined(separator: ",") + "]"
        let queried = "[" + documents.map { #"{"document": \#($0)}"# }.joined(separator: ",") + "]"
        let operations = [
            (ReadOperation.query(try QueryValidation.checked(DocumentQuery("a"))), queried),
            (.documents(["a/1", "a/2"]), found),
        ]
        for (operation, reply) in operations {
            let scripted = Scripted.google([.json(reply), .json(reply)])
            var request = ReadRequest(operation)
            await expect(.invalidReply) { _ = try await scripted.adapter.read(request) }
            request.reportsUnreadable = true
            let result = try await scripted.adapter.read(request)
            switch result.payload {
            case .found(let documents): #expect(documents.map(\.path) == ["a/1"])
            case .documents(let documents): #expect(documents.map { $0?.path } == ["a/1", nil])
            case .values, .names: Issue.record("another answer")
            }
            #expect(result.unreadable.map(\.path) == ["a/2"])
            #expect(result.unreadable.first?.error.message.contains("laterValue") == true)
        }
    }

    @Test("Any other read fails and names them", arguments: [true, false])
    func others(isKeel: Bool) async throws {
        let store = try await store()
        let adapter = isKeel ? try Served.keel(store) : Served.plain(store)
        for operation in [
            ReadOperation.query(try QueryValidation.checked(DocumentQuery("a"))),
            .documents((0..<10).map(Self.path)),
        ] {
            let error = await expect(.schemaTooNew) {
                _ = try await adapter.read(ReadRequest(operation))
            }
            #expect(error?.message.contains("a/3") == true)
            #expect(error?.message.contains("a/9") == true)
        }
    }

    @Test("A listener shows the others and names them")
    func listening() async throws {
        let client = StorageClient(try Served.keel(try await store()))
        var snapshots = client.listen(to: DocumentQuery("a")).makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.documents.map(\.path) == Self.readable)
        #expect(snapshot.failures.map(\.path) == [Self.path(3), Self.path(9)])
    }
}
