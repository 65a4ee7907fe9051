import KeelDocumentTools
import KeelStorage
import Testing

@Suite("Conditions on the command line")
struct WhereClauseTests {
    @Test(
        "A condition is a field, an operator and a value",
        arguments: [
            ("a == 1", DocumentFilter.equal("a", 1)),
            ("a==1", .equal("a", 1)),
            ("  a.b  !=  1.0 ", .notEqual("a.b", 1.0)),
            ("a < -5", .less("a", -5)),
            ("a <= 1e3", .lessOrEqual("a", .double(1000))),
            ("a > true", .greater("a", true)),
            ("a >= null", .greaterOrEqual("a", .null)),
            ("name == Morris Park", .equal("name", "Morris Park")),
            (#"name == "12""#, .equal("name", "12")),
            ("name == string:12", .equal("name", "12")),
            ("`a.b` == x", .equal(FieldPath(names: ["a.b"]), "x")),
            ("`a == b` == x", .equal(FieldPath(names: ["a == b"]), "x")),
            ("a in [1, \"x\"]", .in("a", [1, "x"])),
            ("a in [red, blue]", .in("a", ["red", "blue"])),
            ("a in[1]", .in("a", [1])),
            ("a not-in [timestamp:1970-01-01T00:00:01Z]", .notIn("a", [second])),
            ("a array-contains in", .arrayContains("a", "in")),
            ("a array-contains-any [1, [x]]", .arrayContainsAny("a", [1, ["x"]])),
            ("in == in", .equal("in", "in")),
            ("a == timestamp:1970-01-01T01:00:01+01:00", .equal("a", second)),
            ("a == reference:users/ada", .equal("a", .reference("users/ada"))),
            ("a == bytes:AP8=", .equal("a", .bytes([0, 255]))),
            ("a == geopoint:40.5, -73", .equal("a", place)),
            ("a == vector:[0.5, -2]", .equal("a", .vector([0.5, -2]))),
            ("a in [vector:[1], vector:[1e3,2]]", .in("a", [.vector([1]), .vector([1000, 2])])),
            ("a == double:3", .equal("a", .double(3))),
            ("a == double:NaN", .equal("a", .double(.nan))),
            ("a == integer:3", .equal("a", 3)),
            ("a == http://x", .equal("a", "http://x")),
            (#"a == {"b": [1]}"#, .equal("a", ["b": [1]])),
            ("__name__ == 30075445", .equal(.documentID, "30075445")),
            ("__name__ in [1, b]", .in(.documentID, ["1", "b"])),
        ]
    )
    func grammar(_ text: String, _ expected: DocumentFilter) throws {
        let filter = try WhereClause.filter(text)
        #expect(filter == expected)
    }

    private static let second = DocumentValue.timestamp(Timestamp(microseconds: 1_000_000))
    private static let place = DocumentValue.geopoint(GeoPoint(latitude: 40.5, longitude: -73))

    @Test(
        "An invalid condition is rejected",
        arguments: [
            "", "a", "a 1", "a = 1", "== 1", "a ==", "a inside [1]", "a in 5", "a in [1",
            "a == {b", "a == \"x", "a == timestamp:yesterday", "a == geopoint:91,0",
            "a == bytes:***", "a == vector:1,2", "a == vector:[x]", "a == integer:1.5",
            "a array-contains-any x",
        ]
    )
    func refusals(_ text: String) {
        #expect(throws: StorageError.self) { _ = try WhereClause.filter(text) }
    }

    @Test("The error for something else shows a condition to type")
    func example() {
        let sign = #expect(throws: StorageError.self) { _ = try WhereClause.filter("n=3") }
        #expect(sign?.message.contains("type 'n == 3'") == true)
        let word = #expect(throws: StorageError.self) { _ = try WhereClause.filter("n") }
        #expect(word?.message.contains("such as 'stars >= 4'") == true)
    }

    @Test("An order is a field and a direction")
    func orders() throws {
        let plain = try WhereClause.order("a.b")
        #expect(plain == .init("a.b", .ascending))
        let up = try WhereClause.order("a:asc")
        #expect(up == .init("a", .ascending))
        let down = try WhereClause.order("a:desc")
        #expect(down == .init("a", .descending))
        #expect(throws: StorageError.self) { _ = try WhereClause.order("a:down") }
    }
}
