import KeelStorage
import Testing

extension StorageAdapterCheck {
    static let compositeChecks: [Self] = [
        composite("several conditions must all hold", .and([.equal("a", 1), .equal("b", 2)])) {
            $0 == 1 && $1 == 2
        },
        composite(
            "at least one condition of an or must hold",
            .or([.equal("a", 1), .equal("b", 2)])
        ) {
            $0 == 1 || $1 == 2
        },
        composite(
            "a document found by both sides of an or is returned once",
            .or([.greaterOrEqual("a", 0), .lessOrEqual("a", 3)])
        ) { _, _ in true },
        composite(
            "an or can be nested in an and",
            .and([.or([.equal("a", 0), .equal("a", 3)]), .greater("b", 1)])
        ) {
            ($0 == 0 || $0 == 3) && $1 > 1
        },
        composite(
            "an and can be nested in an or",
            .or([.and([.equal("a", 0), .equal("b", 0)]), .and([.equal("a", 3), .equal("b", 3)])])
        ) {
            $0 == $1 && ($0 == 0 || $0 == 3)
        },
        composite(
            "a range on one field finds the documents in it",
            .and([.greater("a", 0), .lessOrEqual("a", 2)])
        ) { a, _ in
            a > 0 && a <= 2
        },
        composite(
            "ranges on two fields can be combined",
            .and([.greater("a", 0), .less("b", 2)])
        ) {
            $0 > 0 && $1 < 2
        },
        composite(
            "in can be combined with an inequality",
            .and([.in("a", [0, 2]), .notEqual("b", 1)])
        ) {
            ($0 == 0 || $0 == 2) && $1 != 1
        },
        composite(
            "two in conditions find all combinations",
            .and([.in("a", [0, 2]), .in("b", [1, 3])])
        ) {
            ($0 == 0 || $0 == 2) && ($1 == 1 || $1 == 3)
        },
        composite(
            "mutually exclusive conditions find nothing",
            .and([.equal("a", 1), .equal("a", 2)])
        ) { _, _ in false },
        composite("an or of one condition equals that condition", .or([.equal("a", 1)])) { a, _ in
            a == 1
        },
        composite(
            "not-in can be combined with an equality",
            .and([.notIn("a", [0, 1]), .equal("b", 2)])
        ) {
            $0 > 1 && $1 == 2
        },
        Self(.filters, "a condition on a nested field examines maps") { store async throws in
            try await store.fill([
                "yes": ["m": ["in": ["x": 1]]], "no": ["m": ["in": ["x": 2]]],
                "flat": ["m.in.x": 1], "scalar": ["m": 1], "list": ["m": [["in": ["x": 1]]]],
            ])
            #expect(try await store.ids(where: .equal("m.in.x", 1)) == ["yes"])
        },
        Self(.filters, "a condition on a quoted name does not examine maps") {
            store async throws in
            try await store.fill(["yes": ["a.b": 1], "no": ["a": ["b": 1]]])
            #expect(try await store.ids(where: .equal("`a.b`", 1)) == ["yes"])
        },
        Self(.filters, "a condition distinguishes canonically equivalent names and texts") {
            store async throws in
            let fields = DocumentFields([("\u{e9}", "\u{e9}")])
            try await store.fill(["a": fields])
            let name = FieldPath(names: ["\u{e9}"])
            #expect(try await store.ids(where: .equal(name, "\u{e9}")) == ["a"])
            #expect(try await store.ids(where: .equal(name, "e\u{301}")) == [])
            #expect(
                try await store.ids(where: .equal(FieldPath(names: ["e\u{301}"]), "\u{e9}")) == []
            )
        },
        Self(.filters, "short bounds find long strings") { store async throws in
            let long = String(repeating: "x", count: 5_000)
            let most = String(repeating: "x", count: 1_499)
            try await store.fill([
                "a": ["s": .string(long + "a")], "b": ["s": "y"], "c": ["s": .string(most)],
            ])
            #expect(try await store.ids(where: .greater("s", .string(most))) == ["a", "b"])
            #expect(try await store.ids(where: .less("s", "xy")) == ["a", "c"])
            #expect(try await store.ids(where: .equal("s", .string(most))) == ["c"])
        },
        Self(.filters, "a condition applies to the current state of a document") {
            store async throws in
            try await store.set(["v": 1])
            try await store.set(["v": 2])
            #expect(try await store.ids(where: .equal("v", 1)) == [])
            #expect(try await store.ids(where: .equal("v", 2)) == ["d"])
        },
    ]

    /// Returns a check on the sixteen documents with `a` and `b` from 0 to 3.
    private static func composite(
        _ promise: String,
        _ filter: DocumentFilter,
        _ rule: @escaping @Sendable (Int64, Int64) -> Bool
    ) -> Self {
        Self(.filters, promise) { store in
            let numbers: [Int64] = [0, 1, 2, 3]
            let pairs = numbers.flatMap { a in numbers.map { (a, $0) } }
            try await store.fill(
                all: pairs.map { a, b in
                    ("\(a)\(b)", ["a": .integer(a), "b": .integer(b)])
                }
            )
            let expected = pairs.filter(rule).map { "\($0)\($1)" }
            #expect(try await store.ids(where: filter) == expected)
        }
    }

    static let idChecks: [Self] = [
        byID("== finds the one document", .equal(.documentID, "b")) { $0 == "b" },
        byID("!= omits the one document", .notEqual(.documentID, "b")) { $0 != "b" },
        byID("< finds ids before it", .less(.documentID, "b")) { $0 < "b" },
        byID(">= finds the id and those after it", .greaterOrEqual(.documentID, "b")) { $0 >= "b" },
        byID(
            "a range finds the ids in between",
            .and([.greater(.documentID, "a"), .lessOrEqual(.documentID, "c")])
        ) {
            $0 > "a" && $0 <= "c"
        },
        byID("in finds the documents listed", .in(.documentID, ["c", "a", "none"])) {
            $0 == "a" || $0 == "c"
        },
        byID("not-in omits the documents listed", .notIn(.documentID, ["c", "a"])) {
            $0 != "a" && $0 != "c"
        },
        byID(
            "an inequality can be combined with an equality on a field",
            .and([.greater(.documentID, "a"), .equal("n", 1)])
        ) {
            $0 == "b" || $0 == "d"
        },
        Self(.filters, "by id: a reference can replace the id") { store in
            try await store.fill(["a": [:], "b": [:]])
            let reference = DocumentValue.reference(store.path("b"))
            #expect(try await store.ids(where: .equal(.documentID, reference)) == ["b"])
        },
    ]

    private static func byID(
        _ promise: String,
        _ filter: DocumentFilter,
        _ rule: @escaping @Sendable (String) -> Bool
    ) -> Self {
        Self(.filters, "by id: \(promise)") { store in
            try await store.fill([
                "a": ["n": 0], "aa": ["n": 0], "b": ["n": 1], "c": ["n": 0], "d": ["n": 1],
            ])
            let expected = ["a", "aa", "b", "c", "d"].filter(rule)
            #expect(try await store.ids(store.query.where(filter)) == expected)
        }
    }

    static let refusedFilterChecks: [Self] = [
        refused("a string of 1,500 bytes for ==", .equal("v", .string(tooLong))),
        refused("a string of 1,500 bytes for >", .greater("v", .string(tooLong))),
        refused("a string of 1,500 bytes in a list", .in("v", ["a", .string(tooLong)])),
        refused("a string of 1,500 bytes as an element", .arrayContains("v", .string(tooLong))),
        refused("two != conditions", .and([.notEqual("v", 1), .notEqual("w", 1)])),
        refused("two != conditions in an or", .or([.notEqual("v", 1), .notEqual("v", .null)])),
        refused("!= combined with not-in", .and([.notEqual("v", 1), .notIn("w", [1])])),
        refused(
            "two array-contains conditions",
            .and([.arrayContains("v", 1), .arrayContains("v", 2)])
        ),
        refused(
            "array-contains combined with array-contains-any, even if nested",
            .and([.arrayContains("v", 1), .or([.equal("w", 1), .arrayContainsAny("x", [2])])])
        ),
        refused("an empty list of values", .in("v", [])),
        refused("31 values for in", .in("v", (0..<31).map { .integer($0) })),
        refused(
            "31 values for array-contains-any",
            .arrayContainsAny("v", (0..<31).map { .integer($0) })
        ),
        refused("11 values for not-in", .notIn("v", (0..<11).map { .integer($0) })),
        refused("not-in combined with in", .and([.notIn("v", [1]), .in("w", [1])])),
        refused("not-in in an or", .or([.notIn("v", [1]), .equal("w", 1)])),
        refused("two not-in conditions", .and([.notIn("v", [1]), .notIn("w", [1])])),
        refused(
            "more than 30 alternatives",
            .and([.in("v", [1, 2, 3, 4, 5, 6]), .in("w", [1, 2, 3, 4, 5, 6])])
        ),
        refused("an empty and", .and([])),
        refused("an empty or", .or([.equal("a", 1), .or([])])),
        refused("an empty field name", .equal("a..b", 1)),
        refused("a number for a document’s id", .equal(.documentID, 1)),
        refused("array-contains on a document’s id", .arrayContains(.documentID, "a")),
    ]

    private static let tooLong = String(repeating: "x", count: 1_500)

    private static func refused(_ what: String, _ filter: DocumentFilter) -> Self {
        Self(.filters, "\(what) is rejected as invalidArgument") { store in
            await store.expect(.invalidArgument) { _ = try await store.ids(where: filter) }
        }
    }
}
