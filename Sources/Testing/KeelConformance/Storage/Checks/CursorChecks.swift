import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let cursors: [Self] =
        numberCursorChecks + documentCursorChecks + refusedCursorChecks

    private static let numberCursorChecks: [Self] = [
        found("start(at:) begins with the value", "56789") { $0.order(by: "n").start(at: 5) },
        found("start(after:) begins after the value", "6789") {
            $0.order(by: "n").start(after: 5)
        },
        found("end(at:) ends with the value", "012345") { $0.order(by: "n").end(at: 5) },
        found("end(before:) ends before the value", "01234") { $0.order(by: "n").end(before: 5) },
        found("a start and an end select a range", "345") {
            $0.order(by: "n").start(at: 3).end(before: 6)
        },
        found("in descending order, a start is the upper bound", "543210") {
            $0.order(by: "n", .descending).start(at: 5)
        },
        found("in descending order, start(after:) begins below the value", "43210") {
            $0.order(by: "n", .descending).start(after: 5)
        },
        found("in descending order, an end is the lower bound", "98765") {
            $0.order(by: "n", .descending).end(at: 5)
        },
        found("in descending order, end(before:) ends above the value", "9876") {
            $0.order(by: "n", .descending).end(before: 5)
        },
        found("a start between two values begins at the next value", "456789") {
            $0.order(by: "n").start(after: 3.5)
        },
        found("a start beyond the end finds nothing", "") {
            $0.order(by: "n").start(at: 6).end(at: 5)
        },
        found("a start at the same value as an exclusive end finds nothing", "") {
            $0.order(by: "n").start(at: 5).end(before: 5)
        },
        found("a start of a later kind finds nothing", "") { $0.order(by: "n").start(at: "5") },
        found("an end of a later kind finds everything", "0123456789") {
            $0.order(by: "n").end(at: "5")
        },
        found("an equivalent number of the other type is an equal cursor", "6789") {
            $0.order(by: "n").start(after: 5.0)
        },
        found("the last of two starts applies", "789") {
            $0.order(by: "n").start(at: 2).start(at: 7)
        },
        found("start(at:) with a value of the first order includes all ties", "13579") {
            $0.order(by: "half").order(by: "n").start(at: 1)
        },
        found("start(after:) with a value of the first order skips all ties", "13579") {
            $0.order(by: "half").order(by: "n").start(after: 0)
        },
        found("end(at:) with a value of the first order includes all ties", "02468") {
            $0.order(by: "half").order(by: "n").end(at: 0)
        },
        found("end(before:) with a value of the first order excludes all ties", "02468") {
            $0.order(by: "half").order(by: "n").end(before: 1)
        },
        found("two values specify a position among ties", "6813579") {
            $0.order(by: "half").order(by: "n").start(after: 0, 4)
        },
        found("a cursor works with orders of different directions", "42097531") {
            $0.order(by: "half").order(by: "n", .descending).start(at: 0, 4)
        },
        found("an order by id starts at an id", "789") {
            $0.order(by: .documentID).start(at: "7")
        },
        found("a descending order by id ends before an id", "98") {
            $0.order(by: .documentID, .descending).end(before: "7")
        },
        found("a cursor may give the id after the values", "6789") {
            $0.order(by: "n").order(by: .documentID).start(after: 5, "5")
        },
        found("a cursor applies to an inequality’s implied order", "567") {
            $0.where(.and([.greater("n", 2), .less("n", 8)])).start(at: 5)
        },
        found("an inclusive cursor without values has no effect", "0123456789") {
            $0.order(by: "n").with {
                $0.start = .init([], isInclusive: true)
                $0.end = .init([], isInclusive: true)
            }
        },
        found("an exclusive start without values excludes everything", "") {
            $0.order(by: "n").with { $0.start = .init([], isInclusive: false) }
        },
        found("an exclusive end without values excludes everything", "") {
            $0.order(by: "n").with { $0.end = .init([], isInclusive: false) }
        },
        found("limit(toLast:) counts back from the end", "345") {
            $0.order(by: "n").end(at: 5).limit(toLast: 3)
        },
        found("limit(toLast:) respects the start", "89") {
            $0.order(by: "n").start(after: 7).limit(toLast: 5)
        },
        found("limit(toLast:) works in descending order", "543") {
            $0.order(by: "n", .descending).end(before: 2).limit(toLast: 3)
        },
        found("limit(to:) counts from the start", "567") {
            $0.order(by: "n").start(at: 5).limit(to: 3)
        },
    ]

    static let documentCursorChecks: [Self] = [
        atFive("start(at:) with a document begins with it", "56789") {
            $0.order(by: "n").start(at: $1)
        },
        atFive("start(after:) with a document begins after it", "6789") {
            $0.order(by: "n").start(after: $1)
        },
        atFive("end(at:) with a document ends with it", "012345") { $0.order(by: "n").end(at: $1) },
        atFive("end(before:) with a document ends before it", "01234") {
            $0.order(by: "n").end(before: $1)
        },
        atFive("a document specifies a position among ties", "79") {
            $0.order(by: "half").start(after: $1)
        },
        atFive("a document specifies a position among descending ties", "3186420") {
            $0.order(by: "half", .descending).start(after: $1)
        },
        atFive("a document specifies a position without any order", "6789") { $0.start(after: $1) },
        atFive("a document specifies a position in an inequality’s order", "678") {
            $0.where(.less("n", 9)).start(after: $1)
        },
        Self(.cursors, "a document specifies its position even after its deletion") { store in
            try await store.fillNumbers()
            let five = try await store.document("5")
            try await store.client.deleteDocument(five.path)
            let ids = try await store.ids(store.query.order(by: "n").start(at: five))
            #expect(ids == ["6", "7", "8", "9"])
        },
        paged("pages by document visit every document once", by: "half"),
        paged("pages by document visit every document once, descending", by: "half", .descending),
        paged("pages without an order visit every document once", by: .documentID),
    ]

    private static func paged(
        _ promise: String,
        by field: FieldPath,
        _ direction: DocumentQuery.Direction = .ascending
    ) -> Self {
        Self(.cursors, promise) { store in
            try await store.fillNumbers()
            let query = store.query.order(by: field, direction)
            var page = try await store.client.queryDocuments(query.limit(to: 3))
            var ids: [String] = []
            while let last = page.last, ids.count < 20 {
                ids += page.map(\.id)
                page = try await store.client.queryDocuments(query.start(after: last).limit(to: 3))
            }
            #expect(ids == (try await store.ids(query)))
            #expect(ids.count == 10)
        }
    }

    private static let refusedCursorChecks: [Self] = [
        Self(.cursors, "more values than orders are rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.order(by: "n").start(at: 1, "a", 3))
            }
        },
        Self(.cursors, "a number in place of an id is rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.order(by: .documentID).start(at: 1))
            }
        },
    ]

    /// Returns a check on ten documents from 0 to 9; the result is written as a row of digits.
    private static func found(
        _ promise: String,
        _ expected: String,
        _ query: @escaping @Sendable (DocumentQuery) -> DocumentQuery
    ) -> Self {
        Self(.cursors, promise) { store in
            try await store.fillNumbers()
            let ids = try await store.ids(query(store.query))
            #expect(ids.joined() == expected)
        }
    }

    /// Returns a check like ``found(_:_:_:)`` with the document 5 as a cursor.
    private static func atFive(
        _ promise: String,
        _ expected: String,
        _ query: @escaping @Sendable (DocumentQuery, Document) -> DocumentQuery
    ) -> Self {
        Self(.cursors, promise) { store in
            try await store.fillNumbers()
            let five = try await store.document("5")
            let ids = try await store.ids(query(store.query, five))
            #expect(ids.joined() == expected)
        }
    }
}

extension StoreUnderTest {
    /// Stores 0 to 9 under `n`, and their parity, 0 or 1, under `half`.
    func fillNumbers() async throws {
        try await fill(
            all: (0..<10).map {
                ("\($0)", ["n": .integer($0), "half": .integer($0 % 2), "text": .string("n\($0)")])
            }
        )
    }
}
