import KeelDocuments
import Testing

@Suite("Field paths")
struct FieldPathTests {
    @Test(
        "The text of a path gives the same path, whichever scalars its names begin and end with",
        arguments: ["\u{301}x", "x`\u{301}", "x\\\u{301}", ".\u{301}", "\u{1FEF}", "e\u{301}", "`"]
    )
    func text(_ name: String) {
        for names in [[name], ["a", name], [name, "b"], ["a", name, "b.c"]] {
            let path = FieldPath(names: names)
            #expect(FieldPath(path.description) == path)
        }
    }

    @Test("Each dot, backtick and backslash counts, regardless of what combines with it")
    func scalars() {
        #expect(FieldPath("a.\u{301}b") == FieldPath(names: ["a", "\u{301}b"]))
        #expect(FieldPath("`\u{301}b`.c") == FieldPath(names: ["\u{301}b", "c"]))
        #expect(FieldPath(names: ["x`\u{301}"]).description == "`x\\`\u{301}`")
        // U+1FEF is canonically equivalent to a backtick, and not one.
        #expect(FieldPath("a\u{1FEF}.b") == FieldPath(names: ["a\u{1FEF}", "b"]))
        #expect(FieldPath(names: ["\u{1FEF}"]).description.utf8.count == 5)
    }
}
