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
}
