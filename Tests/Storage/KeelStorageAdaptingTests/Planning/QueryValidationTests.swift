import KeelStorageAdapting
import Testing

@Suite("Validation of queries")
struct QueryValidationTests {
    @Test("A search has up to 100 words, counting repetitions and the parts of each word")
    func manyWords() throws {
        let most = [String](repeating: "a-b", count: 50).joined(separator: " ")
        _ = try QueryValidation.checked(DocumentQuery("notes").matching(most))
        let error = #expect(throws: StorageError.self) {
            try QueryValidation.checked(DocumentQuery("notes").matching(most + " c"))
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test("A query has up to 1,000 conditions and orders, counting the implied orders")
    func manyConditions() throws {
        let condition = DocumentFilter.field("a", .equal, 1)
        let filter = DocumentFilter.and([DocumentFilter](repeating: condition, count: 998))
        let query = DocumentQuery("notes").where(filter).order(by: "b")
        _ = try QueryValidation.checked(query)
        _ = try QueryValidation.checked(query.withCompleteOrders)
        let error = #expect(throws: StorageError.self) {
            try QueryValidation.checked(query.order(by: "c"))
        }
        #expect(error?.code == .invalidArgument)
    }
}
