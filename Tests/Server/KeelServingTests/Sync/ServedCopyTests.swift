#if SQLite
import Foundation
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Copying over the network")
struct ServedCopyTests {
    @Test(
        "Only a named reader completes a copy while the server prunes its log",
        arguments: [true, false]
    )
    func slow(isNamed: Bool) async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.retention = .init(
            age: .zero,
            bytes: 0,
            tombstoneAge: .zero,
            tombstoneBytes: 0
        )
        let adapter = try SQLiteStorageAdapter(
            at: .file(folder.appending(path: "store.sqlite")),
            configuration: configuration
        )
        let store = StorageClient(adapter)
        for number in 0..<100 { try await store.setDocument("a/\(number)", ["n": 0]) }
        let server = try #require(URL(string: "http://127.0.0.1"))
        let remote = FirestoreStorageAdapter(
            .keel(server),
            transport: HandlerTransport(StorageServer(adapter: adapter))
        )
        var request = ChangeRequest(scope: .collections(["a"]), limit: 10)
        request.reader = isNamed ? ChangeReader("copy") : nil
        var copy: [DocumentPath: Document] = [:]
        var pages = 0
        var failure: StorageError?
        while pages < 300 {
            let page: ChangePage
            do throws(StorageError) { page = try await remote.changes(request) } catch {
                failure = error
                break
            }
            pages += 1
            for change in page.changes {
                if case .current(let document) = change {
                    copy[change.path] = document
                } else {
                    copy[change.path] = nil
                }
            }
            request.after = page.next
            guard !page.isCaughtUp else { break }
            // Writes that happen while the page is in transmission.
            for number in 0..<3 {
                let id = (pages * 37 + number * 11) % 100
                try await store.setDocument("a/\(id)", ["n": .integer(Int64(pages))])
            }
            try await store.deleteDocument("a/\(pages * 53 % 100)")
            try await adapter.compact()
        }
        guard isNamed else {
            #expect(failure?.code == .cursorExpired)
            return
        }
        #expect(failure == nil)
        let stored = try await store.queryDocuments(DocumentQuery("a"))
        #expect(copy.values.sorted { $0.path < $1.path } == stored)
        try adapter.close()
    }
}
#endif
