import KeelStorage
import Testing

/// Checks of values longer than 1,500 bytes, which an index need not hold completely.
extension StorageAdapterCheck {
    static let longValueChecks: [Self] = [
        long("are ordered by the bytes after the first 1,500") { store async throws in
            let query = store.query.order(by: "v")
            #expect(try await store.ids(query) == sorted)
            #expect(
                try await store.ids(store.query.order(by: "v", .descending)) == sorted.reversed()
            )
        },
        long("respect limits and offsets in their order") { store async throws in
            let query = store.query.order(by: "v")
            for limit in 1..<sorted.count {
                #expect(try await store.ids(query.limit(to: limit)) == Array(sorted.prefix(limit)))
                #expect(
                    try await store.ids(query.limit(toLast: limit)) == Array(sorted.suffix(limit))
                )
                #expect(
                    try await store.ids(query.offset(limit).limit(to: 2))
                        == Array(sorted.dropFirst(limit).prefix(2))
                )
            }
        },
        long("work as cursors") { store async throws in
            let query = store.query.order(by: "v")
            for (position, id) in sorted.enumerated() {
                let value = try #require(longDocuments[id]?["v"])
                let rest = Array(sorted[position...])
                #expect(try await store.ids(query.start(at: value)) == rest)
                #expect(try await store.ids(query.start(after: value)) == Array(rest.dropFirst()))
                #expect(try await store.ids(query.end(at: value)) == Array(sorted[...position]))
                #expect(try await store.ids(query.end(before: value)) == Array(sorted[..<position]))
            }
        },
        long("can be paged document by document") { store async throws in
            let query = store.query.order(by: "v").limit(to: 1)
            var next = query
            var found: [String] = []
            while let document = try await store.client.queryDocuments(next).first {
                found.append(document.id)
                try #require(found.count <= sorted.count)
                next = query.start(after: document)
            }
            #expect(found == sorted)
        },
        long("take precedence over the orders after them") { store async throws in
            let query = store.query.order(by: "v").order(by: "n", .descending)
            #expect(try await store.ids(query) == sorted)
            #expect(try await store.ids(query.limit(to: 3)) == Array(sorted.prefix(3)))
        },
        long("are kept in step with changes and deletions") { store async throws in
            let query = store.query.order(by: "v")
            try await store.update("c", .put("v", .string(prefix + "0")))
            try await store.client.deleteDocument(store.path("a"))
            try await store.set(["v": "y", "n": 1], "d")
            #expect(try await store.ids(query) == ["short", "exact", "c", "b", "z", "d"])
        },
        Self(
            .indexes,
            "values longer than 1,500 bytes can be counted",
            needs: [.declaredIndexes, .aggregation]
        ) {
            store in
            try await store.fillLong()
            let query = store.query.order(by: "v")
            let start = query.start(after: .string(prefix + "a"))
            #expect(try await store.client.count(query) == sorted.count)
            #expect(try await store.client.count(start) == 4)
            #expect(try await store.client.count(query.end(before: .string(prefix + "c"))) == 5)
            #expect(try await store.client.count(start.offset(1).limit(to: 2)) == 2)
        },
        Self(
            .indexes,
            "elements longer than 1,500 bytes are indexed separately",
            needs: .declaredIndexes
        ) {
            store in
            let index = IndexDefinition(store.name, [.contains("l"), .ascending("n")])
            try await store.adapter.prepare(StorageSchema(indexes: [index]))
            let values = ["a", "b"].map { DocumentValue.string(prefix + $0) }
            try await store.set(["l": .array(values + ["x"]), "n": 2], "both")
            try await store.set(["l": .array([values[1], "x"]), "n": 1], "one")
            let query = store.query.where(.arrayContains("l", "x")).order(by: "n")
            #expect(try await store.ids(query) == ["one", "both"])
            try await store.set(["l": .array([values[0]]), "n": 2], "both")
            #expect(try await store.ids(query) == ["one"])
        },
    ]

    private static let prefix = String(repeating: "x", count: 1_600)

    fileprivate static let longDocuments: [String: DocumentFields] = [
        "short": ["v": "x", "n": 9],
        "exact": ["v": .string(String(repeating: "x", count: 1_499)), "n": 8],
        "c": ["v": .string(prefix + "a"), "n": 3],
        "a": ["v": .string(prefix + "b"), "n": 7],
        "d": ["v": .string(prefix + "ba"), "n": 1],
        "b": ["v": .string(prefix + "c"), "n": 5],
        "z": ["v": .string(String(prefix.dropLast()) + "y"), "n": 4],
    ]

    private static let sorted = ["short", "exact", "c", "a", "d", "b", "z"]

    private static func long(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.indexes, "values longer than 1,500 bytes \(promise)", needs: .declaredIndexes) {
            store in
            try await store.fillLong()
            try await body(store)
        }
    }
}

extension StoreUnderTest {
    fileprivate func fillLong() async throws {
        try await adapter.prepare(
            StorageSchema(indexes: [
                IndexDefinition(name, [.ascending("v")]),
                IndexDefinition(name, [.ascending("v"), .descending("n")]),
            ])
        )
        try await fill(all: StorageAdapterCheck.longDocuments.map { ($0.key, $0.value) })
    }
}
