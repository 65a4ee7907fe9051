import KeelDocuments
import Testing

/// With work for each pair of fields, these tests would reach the time limit.
@Suite("Fields of documents", .timeLimit(.minutes(5)))
struct DocumentFieldsTests {
    private static let pairs = (0..<Int64(300_000)).map { number in
        ("\(1_000_000 + number)", DocumentValue.integer(number))
    }

    @Test("Many fields can be given in any order, and the last value of a name counts")
    func many() {
        let sorted = DocumentFields(Self.pairs)
        #expect(DocumentFields(Self.pairs.reversed()) == sorted)
        let repeated = Self.pairs.map { ($0.0, DocumentValue.null) }
        #expect(DocumentFields(Array(repeated.reversed()) + Self.pairs) == sorted)
    }

    @Test("Many fields of a map can be set one after the other")
    func nested() {
        var fields = DocumentFields([("map", .map(["other": 1])), ("text", "a")])
        for (name, value) in Self.pairs { fields[FieldPath(names: ["map", name])] = value }
        fields[FieldPath(names: ["text", "name"])] = "b"
        fields[FieldPath(names: ["map", "other"])] = DocumentValue?.none
        fields[FieldPath(names: ["none", "other"])] = DocumentValue?.none
        #expect(
            fields
                == DocumentFields([
                    ("map", .map(DocumentFields(Self.pairs))), ("text", .map(["name": "b"])),
                ])
        )
    }

    @Test("Many fields of a body can be selected in any order")
    func selected() {
        let names = Self.pairs.prefix(100_000).map { $0.0 }
        let map = DocumentFields(names.map { ($0, DocumentValue.null) })
        let body = DocumentBody(["map": .map(map), "other": 1])
        let paths = names.reversed().map { FieldPath(names: ["map", $0]) }
        let expected = DocumentBody(["map": .map(map)])
        #expect(body.selecting(paths + ["missing", "other.missing", .documentID]) == expected)
        #expect(body.selecting(["map"] + paths) == expected)
        #expect(body.selecting(["other"]) == DocumentBody(["other": 1]))
    }
}
