import Foundation
import Keel
import OwnNames
import Testing

/// If Keel showed these names to apps, they would be ambiguous here, and this file would not compile.
@Suite("Names that an app may use itself")
struct OwnNamesTests {
    private typealias Own = (
        ReadRequest, ReadOperation, ReadResult, WriteBatch, TransactionReads, ChangeOrigin,
        ChangeRequest, ChangePage, ChangeScope, ScopeFilter, StorageContext, StorageEvaluator
    )

    /// Uses the only adapter type that `import Keel` exposes to apps.
    private func adapter() -> any StorageAdapter { InMemoryStorageAdapter().retrying(.attempts(3)) }

    @Test("An app sees the API that it calls, and no adapter internals")
    func names() async throws {
        let own = String(reflecting: Own.self)
        #expect(own.components(separatedBy: "OwnNames.").count == 13, "\(own)")
        let storage = StorageClient(adapter())
        let receipt = try await storage.setDocument("notes/1", ["text": "Hello"])
        #expect(receipt.revision != nil)
        #expect(storage.capabilities.contains(.transactions))
        let query = DocumentQuery("notes").where(.equal("text", "Hello"))
        #expect(try await storage.count(query) == 1)
    }
}
