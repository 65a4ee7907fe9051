import Foundation
import KeelDocumentTools
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelToolsTestSupport
import Testing

@Suite("Documents on a server")
struct RemoteStoreTests {
    private func keel(_ store: some StorageAdapter) throws -> FirestoreStorageAdapter {
        let address = try #require(URL(string: "http://127.0.0.1"))
        var configuration = FirestoreStorageAdapter.Configuration.keel(address)
        // Tests that wait for a process hold the threads that this one needs.
        configuration.timeout = .seconds(3600)
        return FirestoreStorageAdapter(
            configuration,
            transport: HandlerTransport(StorageServer(adapter: store))
        )
    }

    private func plain(_ store: some StorageAdapter) -> FirestoreStorageAdapter {
        var configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: "127.0.0.1",
            project: "p"
        )
        configuration.timeout = .seconds(3600)
        return FirestoreStorageAdapter(
            configuration,
            transport: HandlerTransport(StorageServer(adapter: store))
        )
    }

    @Test("A copy to a server and back preserves every byte, including times and revisions")
    func keelServer() async throws {
        let scratch = try Scratch()
        let source = InMemoryStorageAdapter()
        try await Samples.fill(source)
        let behind = InMemoryStorageAdapter()
        let back = InMemoryStorageAdapter()
        let there = try await DocumentCopy(from: source, to: try keel(behind), pageSize: 3)
            .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("one"))
        #expect(there.isVerified)
        #expect(there.keepsTimes)
        #expect(there.comparisons.map(\.source.count) == [5, 6, 1])
        let again = try await DocumentCopy(from: try keel(behind), to: back, pageSize: 3)
            .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("two"))
        #expect(again.isVerified)
        let (before, after) = (try await source.all("c"), try await back.all("c"))
        #expect(before == after)
    }

    @Test("A server with the plain protocol receives and returns all fields")
    func plainServer() async throws {
        let scratch = try Scratch()
        let source = InMemoryStorageAdapter()
        try await Samples.fill(source)
        let behind = InMemoryStorageAdapter()
        let back = InMemoryStorageAdapter()
        let there = try await DocumentCopy(from: source, to: plain(behind), pageSize: 3)
            .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("one"))
        #expect(there.isVerified)
        #expect(!there.keepsTimes)
        let again = try await DocumentCopy(from: plain(behind), to: back, pageSize: 3)
            .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("two"))
        #expect(again.isVerified)
        #expect(again.comparisons.map(\.source.count) == [5, 6, 1])
        let (before, after) = (try await source.all("c"), try await back.all("c"))
        #expect(before.map(\.body) == after.map(\.body))
    }

    @Test("An import with a lost reply resumes on a server", arguments: [true, false])
    func importing(_ isKeel: Bool) async throws {
        let scratch = try Scratch()
        let behind = InMemoryStorageAdapter()
        let store = isKeel ? try keel(behind) : plain(behind)
        let settings = DocumentImport.Settings(try scratch.numberedLines(9), batch: 2)
        await #expect(throws: StorageError.self) {
            _ = try await DocumentImport(into: store.failing([nil, .loseReply()]), settings).run()
        }
        var resumed = settings
        resumed.resumes = true
        let report = try await DocumentImport(into: store, resumed).run()
        #expect(report.imported == 9)
        let documents = try await behind.all("c")
        #expect(documents.count == 9)
        #expect(documents.allSatisfy { $0.createTime == $0.updateTime })
        var lines = 0
        let export = try await DocumentExport(from: store, .collection("c")).run { _ in lines += 1 }
        #expect(lines == 9)
        #expect(export.consistency == (isKeel ? .snapshot : .unknown))
    }
}
