import KeelStorageAdapting
import Testing

/// Compiles an adapter that imports only the contract module.
@Suite("Adapters with a single import")
struct OneImportTests {
    /// An adapter whose documents never change.
    private struct FrozenStorageAdapter: StorageAdapter {
        let documents: [Document]

        var capabilities: StorageCapabilities { [] }

        func prepare(_ schema: StorageSchema) async throws(StorageError) {}

        func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
            switch request.operation {
            case .documents(let paths):
                return ReadResult(
                    .documents(paths.map { path in documents.first { $0.path == path } })
                )
            case .query(let query):
                return ReadResult(.found(try StorageEvaluator.result(of: query, among: documents)))
            case .aggregate(let query, let aggregations):
                let found = try StorageEvaluator.result(of: query, among: documents)
                return ReadResult(
                    .values(try StorageEvaluator.values(of: aggregations, over: found))
                )
            case .collections: throw StorageError(.unsupported, "collections are not listed")
            }
        }

        func commit(
            _ batches: [WriteBatch]
        ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
            batches.map { _ in .failure(StorageError(.readOnly, "nothing changes here")) }
        }

        func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
            throw StorageError(.unsupported, "nothing changes here")
        }
    }

    private static let adapter = FrozenStorageAdapter(
        documents: (1...3).map { number in
            Document(
                path: "notes/\(number)",
                body: DocumentBody(["n": .integer(Int64(number)), "tags": ["a", "b"]]),
                revision: Revision(number: Int64(number)),
                createTime: Timestamp(microseconds: 0),
                updateTime: Timestamp(microseconds: 0)
            )
        }
    )

    @Test("An adapter reads documents, queries and aggregates with a single import")
    func reads() async throws {
        let query = DocumentQuery("notes").where(.greater("n", 1)).order(by: "n", .descending)
        guard
            case .found(let found) = try await Self.adapter.read(ReadRequest(.query(query))).payload
        else {
            Issue.record("a query finds documents")
            return
        }
        #expect(found.map(\.id) == ["3", "2"])
        let sum = ReadRequest(.aggregate(query, [.count(), .sum("n")]))
        guard case .values(let values) = try await Self.adapter.read(sum).payload else {
            Issue.record("an aggregation has values")
            return
        }
        #expect(values == [2, 5])
    }

    @Test("Each batch is rejected individually")
    func refuses() async throws {
        let batches = [WriteBatch([DocumentWrite("notes/1", .delete)]), WriteBatch([])]
        let results = try await Self.adapter.commit(batches)
        #expect(results.count == 2)
        for result in results {
            #expect(throws: StorageError.self) { try result.get() }
        }
    }
}
