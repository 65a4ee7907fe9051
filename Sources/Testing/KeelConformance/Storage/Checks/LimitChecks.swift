import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let limits: [Self] = [
        counted("limit(to:) keeps the first", "012") { $0.order(by: "n").limit(to: 3) },
        counted("limit(to:) without an order keeps the first by id", "01") { $0.limit(to: 2) },
        counted("a limit of 0 finds nothing", "") { $0.limit(to: 0) },
        counted("a limit beyond the result keeps everything", "0123456789") { $0.limit(to: 100) },
        counted("an offset skips the first", "789") { $0.order(by: "n").offset(7) },
        counted("an offset applies before the limit", "34") {
            $0.order(by: "n").offset(3).limit(to: 2)
        },
        counted("an offset beyond the result finds nothing", "") { $0.offset(10) },
        counted("an offset counts from the start", "78") {
            $0.order(by: "n").start(at: 5).offset(2).limit(to: 2)
        },
        counted("limit(toLast:) keeps the last, in the query’s order", "789") {
            $0.order(by: "n").limit(toLast: 3)
        },
        counted("limit(toLast:) works in descending order", "210") {
            $0.order(by: "n", .descending).limit(toLast: 3)
        },
        counted("limit(toLast:) breaks ties by id", "79") {
            $0.order(by: "half").limit(toLast: 2)
        },
        counted("limit(toLast:) beyond the result keeps everything", "0123456789") {
            $0.order(by: "n").limit(toLast: 11)
        },
        counted("a limit counts only matching documents", "24") {
            $0.where(.equal("half", 0)).where(.greater("n", 0)).limit(to: 2)
        },
        Self(.limits, "limit(toLast:) without an order is rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.limit(toLast: 1))
            }
        },
        Self(.limits, "a negative limit or offset is rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.limit(to: -1))
            }
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.offset(-1))
            }
        },
    ]

    private static func counted(
        _ promise: String,
        _ expected: String,
        _ query: @escaping @Sendable (DocumentQuery) -> DocumentQuery
    ) -> Self {
        Self(.limits, promise) { store in
            try await store.fillNumbers()
            #expect(try await store.ids(query(store.query)).joined() == expected)
        }
    }

    package static let projections: [Self] = [
        projected("one field", ["a": 1]) { $0.select("a") },
        projected("several fields", ["a": 1, "l": [1, 2]]) { $0.select("l", "a") },
        projected("a field inside a map, without its siblings", ["m": ["x": 1]]) {
            $0.select("m.x")
        },
        projected("an entire map", ["m": ["x": 1, "y": ["z": 2]]]) { $0.select("m") },
        projected("several fields of one map", ["m": ["x": 1, "y": ["z": 2]]]) {
            $0.select("m.y.z", "m.x")
        },
        projected("missing fields, which are omitted", ["a": 1]) {
            $0.select("a", "none", "m.none", "a.b")
        },
        projected("no fields", [:]) { $0.select() },
        projected("the document’s id, which adds no field", ["a": 1]) {
            $0.select(.documentID, "a")
        },
        projected("a quoted name", ["q.r": 3]) { $0.select("`q.r`") },
        projected("fields other than those of its conditions", ["l": [1, 2]]) {
            $0.where(.equal("a", 1)).order(by: "m.x").select("l")
        },
        Self(.projections, "a projected document keeps its path, revision and times") { store in
            try await store.set(["a": 1, "b": 2])
            let whole = try await store.document()
            let part = try #require(
                try await store.client.queryDocuments(store.query.select("a")).first
            )
            #expect(part.path == whole.path)
            #expect(part.revision == whole.revision)
            #expect(part.createTime == whole.createTime)
            #expect(part.updateTime == whole.updateTime)
            #expect(try part.fields() == ["a": 1])
        },
    ]

    private static func projected(
        _ promise: String,
        _ expected: DocumentFields,
        _ query: @escaping @Sendable (DocumentQuery) -> DocumentQuery
    ) -> Self {
        Self(.projections, "a query can select \(promise)") { store in
            try await store.set(["a": 1, "l": [1, 2], "m": ["x": 1, "y": ["z": 2]], "q.r": 3])
            let found = try await store.client.queryDocuments(query(store.query))
            #expect(try found.map { try $0.fields() } == [expected])
        }
    }
}
