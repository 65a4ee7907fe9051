import KeelStorage
import Synchronization
import Testing

extension StorageAdapterCheck {
    static let indexChecks: [Self] = [
        Self(.indexes, "preparing a schema twice has no further effect", needs: .declaredIndexes) {
            store in
            try await store.fillForIndexes()
            let schema = StorageSchema(indexes: [IndexDefinition(store.name, [.ascending("a")])])
            let query = store.query.where(.equal("a", 1))
            let before = try await store.ids(query)
            for _ in 0..<3 { try await store.adapter.prepare(schema) }
            #expect(try await store.ids(query) == before)
        },
        Self(
            .indexes,
            "a query that finds nothing finds nothing with its index",
            needs: .declaredIndexes
        ) {
            store async throws in
            try await store.fill([
                "a": ["v": .null, "l": [.null]], "b": ["v": .double(.nan), "l": [.double(.nan)]],
            ])
            try await store.adapter.prepare(
                StorageSchema(indexes: [
                    IndexDefinition(store.name, [.ascending("v")]),
                    IndexDefinition(store.name, [.contains("l")]),
                ])
            )
            let filters: [DocumentFilter] = [
                .in("v", [.null]), .in("v", [.double(.nan), .null]), .lessOrEqual("v", .null),
                .greaterOrEqual("v", .double(.nan)), .less("v", .double(-.infinity)),
                .arrayContains("l", .null), .arrayContainsAny("l", [.double(.nan)]),
            ]
            for filter in filters {
                #expect(try await store.ids(where: filter) == [], "\(filter)")
                #expect(try await store.client.count(store.query.where(filter)) == 0, "\(filter)")
            }
            #expect(try await store.ids(where: .equal("v", .null)) == ["a"])
            #expect(try await store.client.count(store.query.where(.equal("v", .null))) == 1)
        },
        Self(.indexes, "an invalid index is rejected", needs: .declaredIndexes) { store in
            let pairs: [IndexDefinition.Component] = [.contains("a"), .contains("b")]
            let many = (0...100).map { IndexDefinition.Component.ascending(FieldPath("f\($0)")) }
            let refused: [IndexDefinition] = [
                IndexDefinition(store.name, []), IndexDefinition(store.name, pairs),
                IndexDefinition(store.name, [.ascending("a"), .descending("a")]),
                IndexDefinition(store.name, [.ascending(.documentID)]),
                IndexDefinition(store.name, [.ascending("a..b")]),
                IndexDefinition(store.name, many), IndexDefinition("a/b", [.ascending("a")]),
                IndexDefinition("__own__", [.ascending("a")]),
            ]
            for definition in refused {
                let schema = StorageSchema(indexes: [definition])
                let client = StorageClient(store.adapter, schema: schema)
                await store.expect(.invalidArgument) { try await client.prepare() }
            }
        },
        Self(.indexes, "a second schema keeps the indexes of the first", needs: .declaredIndexes) {
            store in
            try await store.fillForIndexes()
            for field: FieldPath in ["a", "b"] {
                try await store.adapter.prepare(
                    StorageSchema(indexes: [IndexDefinition(store.name, [.ascending(field)])])
                )
            }
            try await store.changeForIndexes()
            let plan = try await store.client.run(store.query.where(.equal("a", 1))).plan
            #expect(plan?.suggestion == nil)
        },
        Self(.indexes, "an index covers all collections of its name", needs: .declaredIndexes) {
            store in
            let below = store.path("x").collection(store.name)
            try await store.set(["a": 1], "above")
            try await store.client.setDocument(below.document("below"), ["a": 1])
            try await store.adapter.prepare(
                StorageSchema(indexes: [IndexDefinition(store.name, [.ascending("a")])])
            )
            #expect(try await store.ids(where: .equal("a", 1)) == ["above"])
            let result = try await store.client.run(
                DocumentQuery(below).where(.equal("a", 1))
            )
            #expect(result.documents.map(\.id) == ["below"])
            #expect(result.plan?.suggestion == nil)
        },
        Self(
            .indexes,
            "an index of a collection does not serve the collection group",
            needs: .declaredIndexes
        ) {
            store in
            try await store.fillForIndexes()
            try await store.adapter.prepare(
                StorageSchema(indexes: [IndexDefinition(store.name, [.ascending("a")])])
            )
            let query = DocumentQuery(group: store.name).where(.equal("a", 1))
            let plan = try await store.client.run(query).plan
            #expect(
                plan?.suggestion == IndexDefinition(store.name, scope: .group, [.ascending("a")])
            )
        },
        Self(
            .indexes,
            "an index of the opposite direction serves an order",
            needs: .declaredIndexes
        ) {
            store in
            try await store.fillForIndexes()
            let query = store.query.order(by: "a").order(by: "b", .descending)
            let before = try await store.ids(query)
            let components: [IndexDefinition.Component] = [.descending("a"), .ascending("b")]
            try await store.adapter.prepare(
                StorageSchema(indexes: [IndexDefinition(store.name, components)])
            )
            let result = try await store.client.run(query)
            #expect(result.documents.map(\.id) == before)
            #expect(result.plan?.suggestion == nil)
        },
        Self(.indexes, "an index for equality only serves an equality", needs: .declaredIndexes) {
            store in
            try await store.fillForIndexes()
            let index = IndexDefinition(store.name, [.ascending("a")], isEqualityOnly: true)
            let query = store.query.where(.equal("a", 1))
            let before = try await store.ids(query)
            try await store.adapter.prepare(StorageSchema(indexes: [index]))
            let result = try await store.client.run(query)
            #expect(result.documents.map(\.id) == before)
            #expect(result.plan?.access == .index(index.name))
            let range = try await store.client.run(store.query.where(.greater("a", 0)))
            #expect(range.plan?.access == .scan)
        },
        Self(.indexes, "a listing of a collection needs no index", needs: .declaredIndexes) {
            store in
            try await store.fillForIndexes()
            var configuration = StorageClient.Configuration()
            configuration.isStrict = true
            let client = StorageClient(store.adapter, configuration: configuration)
            let plan = try await client.run(store.query.limit(to: 3)).plan
            #expect(plan?.access == .identifiers)
        },
        Self(.indexes, "a client’s first call prepares its schema", needs: .declaredIndexes) {
            store in
            try await store.fillForIndexes()
            let schema = StorageSchema(indexes: [IndexDefinition(store.name, [.ascending("a")])])
            let client = StorageClient(store.adapter, schema: schema)
            let plan = try await client.run(store.query.where(.equal("a", 1))).plan
            #expect(plan?.suggestion == nil)
        },
        Self(.indexes, "a scan is reported to the client’s settings", needs: .declaredIndexes) {
            store in
            try await store.fillForIndexes()
            let reported = Mutex<[IndexDefinition?]>([])
            var configuration = StorageClient.Configuration()
            configuration.onFullScan = { _, plan in reported.withLock { $0.append(plan.suggestion) }
            }
            let client = StorageClient(store.adapter, configuration: configuration)
            _ = try await client.queryDocuments(store.query.where(.equal("a", 1)))
            _ = try await client.queryDocuments(store.query)
            #expect(reported.withLock { $0 } == [IndexDefinition(store.name, [.ascending("a")])])
        },
        Self(
            .indexes,
            "an or on two fields is served once both indexes exist",
            needs: .declaredIndexes
        ) { store in
            try await store.fillForIndexes()
            let query = store.query.where(.or([.equal("a", 1), .equal("b", 3)]))
            let before = try await store.ids(query)
            for _ in 0..<2 {
                let plan = try await store.client.run(query).plan
                let suggestion = try #require(plan?.suggestion)
                try await store.adapter.prepare(StorageSchema(indexes: [suggestion]))
            }
            let result = try await store.client.run(query)
            #expect(result.plan?.suggestion == nil)
            #expect(result.documents.map(\.id) == before)
        },
    ]
}

extension StoreUnderTest {
    /// Stores documents with fields of every kind, absent fields, ties and groups.
    func fillForIndexes() async throws {
        let first: [DocumentValue?] = [0, 1, 1, 2, .null, "x", nil, 1.0]
        let second: [DocumentValue?] = [3, 2, 1, nil, "n", 2.0, .double(.nan), .null]
        var documents: [(String, DocumentFields)] = []
        for (row, a) in first.enumerated() {
            for (column, b) in second.enumerated() where (row + column) % 3 != 1 {
                var fields: DocumentFields = ["n": .integer(Int64(row * 8 + column))]
                fields["a"] = a
                fields["b"] = b
                if row > 2 { fields["l"] = .array([a ?? 2, b ?? 2, 2]) }
                if column > 2 { fields["m"] = ["x": .integer(Int64(row % 2))] }
                documents.append(("\(row)\(column)", fields))
            }
        }
        try await fill(all: documents)
        let below = path("below").collection(name)
        try await client.setDocument(below.document("x"), ["a": 1, "b": 2])
    }

    func changeForIndexes() async throws {
        try await client.commit { batch in
            batch.delete(path("12"))
            batch.delete(path("33"))
            batch.update(path("11"), [FieldChange("a", .set(2)), FieldChange("b", .remove)])
            batch.update(
                path("20"),
                [FieldChange("b", .set(1)), FieldChange("l", .set([2, 1, 2]))]
            )
            batch.update(
                path("50"),
                [FieldChange("l", .set("no list")), FieldChange("m", .set(1))]
            )
            try batch.set(path("new"), ["a": 1, "b": 2, "l": [2], "m": ["x": 1]])
        }
        // Written twice in one batch; only the last state may be indexed.
        try await commit(
            .set(["a": 1, "b": 3], at: path("twice")),
            .set(["a": 0, "b": 2], at: path("twice"))
        )
        try await commit(.set(["a": 1, "b": 3], at: path("gone")), .delete(path("gone")))
    }
}
