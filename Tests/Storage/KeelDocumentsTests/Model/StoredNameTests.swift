import KeelDocuments
import Testing

@Suite("Stored names")
struct StoredNameTests {
    @Test("A name is reserved by its bytes, regardless of what combines with its underscores")
    func reserved() {
        #expect(StoredName.isReserved("__\u{301}a__"))
        #expect(StoredName.isReserved("____"))
        #expect(!StoredName.isReserved("___"))
        #expect(!StoredName.isReserved("__a__\u{301}"))
    }

    @Test(
        "A path with a reserved segment is refused, regardless of what follows the segment",
        arguments: ["__own__/1", "__own__/\u{301}1", "a/__own__/\u{301}b/1", "a/__\u{301}own__"]
    )
    func segments(path: String) {
        #expect(throws: StorageError.self) { try DocumentValidation.check(DocumentPath(path)) }
    }
}
