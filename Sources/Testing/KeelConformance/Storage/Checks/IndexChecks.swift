import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let indexes: [Self] =
        indexRows.flatMap { [sameResults($0), keptUp($0), exactSuggestion($0), strict($0)] }
        + indexChecks + longValueChecks

    struct IndexRow: Sendable {
        let name: String
        let components: [IndexDefinition.Component]
        var isGroup = false
        let query: @Sendable (DocumentQuery) -> DocumentQuery

        func definition(in store: StoreUnderTest) -> IndexDefinition {
            IndexDefinition(store.name, scope: isGroup ? .group : .collection, components)
        }

        func query(in store: StoreUnderTest) -> DocumentQuery {
            query(isGroup ? DocumentQuery(group: store.name) : store.query)
        }
    }

    private static let indexRows: [IndexRow] = [
        IndexRow(name: "an equality", components: [.ascending("a")]) { $0.where(.equal("a", 1)) },
        IndexRow(name: "an equality with null", components: [.ascending("a")]) {
            $0.where(.equal("a", .null))
        },
        IndexRow(name: "null and NaN in a list", components: [.ascending("a")]) {
            $0.where(.in("a", [.null, 1, .double(.nan)]))
        },
        IndexRow(name: "two equalities", components: [.ascending("a"), .ascending("b")]) {
            $0.where(.and([.equal("b", 2), .equal("a", 1)]))
        },
        IndexRow(name: "an order", components: [.ascending("b")]) { $0.order(by: "b") },
        IndexRow(name: "a descending order", components: [.descending("b")]) {
            $0.order(by: "b", .descending)
        },
        IndexRow(name: "two orders", components: [.ascending("a"), .descending("b")]) {
            $0.order(by: "a").order(by: "b", .descending)
        },
        IndexRow(name: "an equality and an order", components: [.ascending("a"), .ascending("b")]) {
            $0.where(.equal("a", 1)).order(by: "b")
        },
        IndexRow(
            name: "an equality and a descending order",
            components: [.ascending("a"), .descending("b")]
        ) { $0.where(.equal("a", 1)).order(by: "b", .descending) },
        IndexRow(name: "a range", components: [.ascending("b")]) {
            $0.where(.and([.greater("b", 0), .lessOrEqual("b", 3)]))
        },
        IndexRow(name: "a descending range", components: [.descending("b")]) {
            $0.where(.greaterOrEqual("b", 1)).order(by: "b", .descending)
        },
        IndexRow(name: "a range of strings", components: [.ascending("b")]) {
            $0.where(.greaterOrEqual("b", "m"))
        },
        IndexRow(name: "!=", components: [.ascending("b")]) { $0.where(.notEqual("b", 2)) },
        IndexRow(name: "not-in", components: [.ascending("b")]) { $0.where(.notIn("b", [2, 3])) },
        IndexRow(
            name: "an equality and a range",
            components: [.ascending("a"), .ascending("b")]
        ) { $0.where(.and([.equal("a", 1), .greater("b", 1)])) },
        IndexRow(name: "two ranges", components: [.ascending("a"), .ascending("b")]) {
            $0.where(.and([.greaterOrEqual("a", 1), .less("b", 3)]))
        },
        IndexRow(name: "in", components: [.ascending("a")]) { $0.where(.in("a", [0, 2, "x"])) },
        IndexRow(name: "in and an order", components: [.ascending("a"), .ascending("b")]) {
            $0.where(.in("a", [2, 0])).order(by: "b").limit(to: 4)
        },
        IndexRow(name: "an or on one field", components: [.ascending("a")]) {
            $0.where(.or([.equal("a", 0), .equal("a", 1)]))
        },
        IndexRow(name: "array-contains", components: [.contains("l")]) {
            $0.where(.arrayContains("l", 2))
        },
        IndexRow(name: "array-contains-any", components: [.contains("l")]) {
            $0.where(.arrayContainsAny("l", [1, 2]))
        },
        IndexRow(
            name: "array-contains and an order",
            components: [.contains("l"), .ascending("b")]
        ) {
            $0.where(.arrayContains("l", 2)).order(by: "b")
        },
        IndexRow(name: "a nested field", components: [.ascending("m.x")]) {
            $0.where(.equal("m.x", 1))
        },
        IndexRow(name: "a cursor and a limit", components: [.ascending("b")]) {
            $0.order(by: "b").start(after: 1).limit(to: 3)
        },
        IndexRow(name: "limit(toLast:)", components: [.descending("b")]) {
            $0.order(by: "b").limit(toLast: 3)
        },
        IndexRow(name: "a group’s equality", components: [.ascending("a")], isGroup: true) {
            $0.where(.equal("a", 1))
        },
        IndexRow(name: "a group’s order", components: [.ascending("b")], isGroup: true) {
            $0.order(by: "b").limit(to: 5)
        },
    ]

    private static func indexed(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.indexes, promise, needs: .declaredIndexes, body)
    }

    private static func sameResults(_ row: IndexRow) -> Self {
        indexed("\(row.name) uses its index and finds the same as without it") { store in
            try await store.fillForIndexes()
            let query = row.query(in: store)
            let without = try await store.client.queryDocuments(query)
            #expect(!without.isEmpty)
            let definition = row.definition(in: store)
            try await store.adapter.prepare(StorageSchema(indexes: [definition]))
            let result = try await store.client.run(query)
            #expect(result.documents == without)
            #expect(result.plan?.access == .index(definition.name))
            #expect(result.plan?.suggestion == nil)
        }
    }

    private static func keptUp(_ row: IndexRow) -> Self {
        indexed("\(row.name) finds the current documents after changes with its index") { store in
            // The index exists before the writes and follows each of them.
            let schema = StorageSchema(indexes: [row.definition(in: store)])
            try await store.adapter.prepare(schema)
            try await store.fillForIndexes()
            try await store.changeForIndexes()
            let indexed = try await store.client.queryDocuments(row.query(in: store))
            let plain = StoreUnderTest(InMemoryStorageAdapter(), named: store.name)
            try await plain.fillForIndexes()
            try await plain.changeForIndexes()
            let expected = try await plain.client.queryDocuments(row.query(in: plain))
            #expect(indexed.map(\.path) == expected.map(\.path))
            #expect(indexed.map(\.body) == expected.map(\.body))
        }
    }

    private static func exactSuggestion(_ row: IndexRow) -> Self {
        indexed("\(row.name) without an index suggests the index that serves it") { store in
            try await store.fillForIndexes()
            let query = row.query(in: store)
            let plan = try #require(try await store.client.run(query).plan)
            #expect(plan.access == .scan)
            let suggestion = try #require(plan.suggestion)
            try await store.adapter.prepare(StorageSchema(indexes: [suggestion]))
            let second = try #require(try await store.client.run(query).plan)
            #expect(second.access == .index(suggestion.name))
        }
    }

    private static func strict(_ row: IndexRow) -> Self {
        indexed("\(row.name) is rejected in strict mode until its index exists") { store in
            try await store.fillForIndexes()
            var configuration = StorageClient.Configuration()
            configuration.isStrict = true
            let client = StorageClient(store.adapter, configuration: configuration)
            let query = row.query(in: store)
            let suggestion = try await store.client.run(query).plan?.suggestion
            let error = await store.expect(.indexRequired) {
                _ = try await client.queryDocuments(query)
            }
            let name = try #require(suggestion?.description)
            #expect(error?.message.contains(name) == true)
            let schema = StorageSchema(indexes: [row.definition(in: store)])
            try await store.adapter.prepare(schema)
            let found = try await client.queryDocuments(query)
            #expect(found == (try await store.client.queryDocuments(query)))
        }
    }
}
