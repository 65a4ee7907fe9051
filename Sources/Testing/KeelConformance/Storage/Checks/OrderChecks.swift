import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let orders: [Self] = menagerieOrderChecks + orderChecks

    private static let menagerieOrderChecks: [Self] =
        [
            Self(.orders, "values of all kinds are ordered by kind and value") {
                store in
                try await store.fillMenagerie()
                let ids = try await store.ids(store.query.order(by: "v"))
                #expect(ids == Menagerie.animals.map(\.id))
            },
            Self(.orders, "descending order is the exact reverse, including ties") { store in
                try await store.fillMenagerie()
                let ids = try await store.ids(store.query.order(by: "v", .descending))
                #expect(ids == Menagerie.animals.map(\.id).reversed())
            },
            Self(.orders, "the order is independent of the order of the writes") { store in
                for animal in Menagerie.animals.reversed() {
                    try await store.set(["v": animal.value], animal.id)
                }
                let ids = try await store.ids(store.query.order(by: "v"))
                #expect(ids == Menagerie.animals.map(\.id))
            },
            Self(.orders, "values inside maps have the same order") { store in
                try await store.fill(all: Menagerie.animals.map { ($0.id, ["m": ["v": $0.value]]) })
                let ids = try await store.ids(store.query.order(by: "m.v"))
                #expect(ids == Menagerie.animals.map(\.id))
            },
        ]
        + Menagerie.Kind.allCases.filter { $0 != .null }.map { kind in
            Self(.orders, "values of kind \(kind) are ordered in both directions") { store in
                let animals = Menagerie.animals.filter { $0.kind == kind }
                try await store.fill(all: animals.shuffled().map { ($0.id, ["v": $0.value]) })
                #expect(try await store.ids(store.query.order(by: "v")) == animals.map(\.id))
                #expect(
                    try await store.ids(store.query.order(by: "v", .descending))
                        == animals.map(\.id).reversed()
                )
            }
        }

    private static let orderChecks: [Self] = [
        ordered("documents are ordered by id by default", ["a", "b", "c", "d", "e", "f"]) {
            $0
        },
        ordered(
            "ids are ordered by their bytes",
            ["B", "a", "a!", "ab", "e\u{301}", "\u{e9}"],
            of: ["a": [:], "\u{e9}": [:], "B": [:], "ab": [:], "a!": [:], "e\u{301}": [:]]
        ) { $0 },
        ordered("an order by id can be specified and reversed", ["f", "e", "d", "c", "b", "a"]) {
            $0.order(by: .documentID, .descending)
        },
        ordered("equal values are ordered by id", ["a", "c", "e", "b", "d", "f"]) {
            $0.order(by: "parity")
        },
        ordered(
            "after a descending order, equal values are ordered by descending id",
            ["f", "d", "b", "e", "c", "a"]
        ) { $0.order(by: "parity", .descending) },
        ordered(
            "a second order breaks the ties of the first",
            ["e", "c", "a", "f", "d", "b"]
        ) {
            $0.order(by: "parity").order(by: "n", .descending)
        },
        ordered(
            "the first order may be descending and the second ascending",
            ["b", "d", "f", "a", "c", "e"]
        ) {
            $0.order(by: "parity", .descending).order(by: "n")
        },
        ordered(
            "ties are broken in the direction of the last order",
            ["b", "d", "f", "a", "c", "e"]
        ) {
            $0.order(by: "parity", .descending).order(by: "same")
        },
        ordered(
            "a document without the ordered field is omitted",
            ["b", "c"],
            of: ["a": [:], "b": ["v": .null], "c": ["v": 1], "d": ["w": 1]]
        ) { $0.order(by: "v") },
        ordered(
            "a document that lacks any of the ordered fields is omitted",
            ["c"],
            of: ["a": ["v": 1], "b": ["w": 1], "c": ["v": 1, "w": 1]]
        ) {
            $0.order(by: "v").order(by: "w")
        },
        ordered(
            "a document without the ordered field is omitted from an or",
            ["b"],
            of: ["a": ["x": 1], "b": ["x": 1, "v": 1]]
        ) {
            $0.where(.or([.equal("x", 1), .equal("v", 1)])).order(by: "v")
        },
        ordered(
            "an inequality orders by its field",
            ["c", "b", "a"],
            of: ["a": ["v": 3], "b": ["v": 2], "c": ["v": 1]]
        ) { $0.where(.greater("v", 0)) },
        ordered(
            "inequalities on two fields order by field name",
            ["c", "a", "b"],
            of: ["a": ["x": 2, "y": 1], "b": ["x": 2, "y": 2], "c": ["x": 1, "y": 3]]
        ) {
            $0.where(.and([.greater("y", 0), .greater("x", 0)]))
        },
        ordered(
            "!= orders by its field",
            ["c", "b", "a"],
            of: ["a": ["v": 3], "b": ["v": 2], "c": ["v": 1]]
        ) { $0.where(.notEqual("v", 9)) },
        ordered(
            "not-in orders by its field",
            ["b", "a"],
            of: ["a": ["v": 3], "b": ["v": 2], "c": ["v": 1]]
        ) { $0.where(.notIn("v", [1])) },
        ordered(
            "an inequality’s field is ordered after the specified orders",
            ["b", "c", "a"],
            of: ["a": ["v": 1, "w": 2], "b": ["v": 2, "w": 1], "c": ["v": 3, "w": 1]]
        ) {
            $0.where(.greater("v", 0)).order(by: "w")
        },
        ordered(
            "an inequality’s order has the last specified direction",
            ["c", "b", "a"],
            of: ["a": ["v": 1, "w": 1], "b": ["v": 2, "w": 1], "c": ["v": 3, "w": 1]]
        ) {
            $0.where(.greater("v", 0)).order(by: "w", .descending)
        },
        ordered(
            "the field of an inequality can be in descending order",
            ["a", "b", "c"],
            of: ["a": ["v": 3], "b": ["v": 2], "c": ["v": 1]]
        ) {
            $0.where(.greater("v", 0)).order(by: "v", .descending)
        },
        ordered(
            "an equality does not change the order",
            ["c", "b", "a"],
            of: ["a": ["v": 3, "w": 1], "b": ["v": 2, "w": 1], "c": ["v": 1, "w": 1]]
        ) {
            $0.where(.equal("w", 1)).order(by: "v")
        },
        ordered(
            "in keeps the query’s order, not that of its list",
            ["c", "a", "b"],
            of: ["a": ["v": 2, "w": 1], "b": ["v": 3, "w": 1], "c": ["v": 1, "w": 2]]
        ) {
            $0.where(.in("w", [1, 2])).order(by: "v")
        },
        Self(.orders, "an order after the document’s id is rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.order(by: .documentID).order(by: "n"))
            }
            await store.expect(.invalidArgument) {
                let query = store.query.where(.greater("n", 1)).order(by: .documentID)
                _ = try await store.ids(query)
            }
        },
        Self(.orders, "an order by the same field twice is rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.order(by: "a").order(by: "a", .descending))
            }
        },
    ]

    private static let letters: KeyValuePairs<String, DocumentFields> = [
        "a": ["n": 1, "parity": 1, "same": 0], "b": ["n": 2, "parity": 2, "same": 0],
        "c": ["n": 3, "parity": 1, "same": 0], "d": ["n": 4, "parity": 2, "same": 0],
        "e": ["n": 5, "parity": 1, "same": 0], "f": ["n": 6, "parity": 2, "same": 0],
    ]

    private static func ordered(
        _ promise: String,
        _ expected: [String],
        of documents: KeyValuePairs<String, DocumentFields> = letters,
        _ query: @escaping @Sendable (DocumentQuery) -> DocumentQuery
    ) -> Self {
        let documents = documents.map { (id: $0.key, fields: $0.value) }
        return Self(.orders, promise) { store in
            try await store.fill(all: documents)
            let ids = try await store.ids(query(store.query))
            // Compares bytes, because strings that differ only in normalization compare equal.
            #expect(ids.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(ids)")
        }
    }
}
