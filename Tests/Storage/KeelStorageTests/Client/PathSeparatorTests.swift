import KeelStorage
import Testing

@Suite("Path separators")
struct PathSeparatorTests {
    @Test("Each slash byte separates, regardless of what follows")
    func bytes() {
        // U+0301 combines with the preceding character: together they are one character and not a slash.
        #expect(DocumentPath("a/\u{301}b").collection == CollectionPath("a"))
        #expect(DocumentPath("a/\u{301}b").id == "\u{301}b")
        #expect(DocumentPath("a/b").collection("\u{301}c").string == "a/b/\u{301}c")
        let literal: DocumentPath = "a/\u{301}b"
        #expect(literal == DocumentPath("a/\u{301}b"))
        #expect(CollectionPath("a/\u{301}b/c").name == "c")
    }
}
