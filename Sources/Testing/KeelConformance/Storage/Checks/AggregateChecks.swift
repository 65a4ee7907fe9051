import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    package static let aggregates: [Self] =
        sums.map(sumCheck) + averages.map(averageCheck) + countChecks + aggregateFrontChecks

    typealias Row = (promise: String, values: [DocumentValue], result: DocumentValue)

    private static let sums: [Row] = [
        ("of integers is an integer", [1, 2, 39], 42),
        ("of nothing is the integer 0", [], 0),
        ("of an integer and a double is a double", [1, 1.5], 2.5),
        ("of doubles that adds up to an integral value is a double", [0.5, 0.5], 1.0),
        ("ignores values that are not numbers", [1, "2", .null, true, [4], 8], 9),
        ("of values without numbers is 0", ["1", .null], 0),
        ("of values including NaN is NaN", [1, .double(.nan), 2], .double(.nan)),
        ("of infinity is infinity", [1, .double(.infinity)], .double(.infinity)),
        (
            "of opposite infinities is NaN", [.double(.infinity), .double(-.infinity)],
            .double(.nan)
        ),
        (
            "that overflows an integer is a double",
            [.integer(.max), .integer(.max)], 18_446_744_073_709_551_616.0
        ),
        (
            "that overflows only temporarily is exact",
            [.integer(.max), .integer(.max), .integer(-.max)], .integer(.max)
        ),
        (
            "of integers beyond 2⁵³ is exact",
            [9_007_199_254_740_993, 2], 9_007_199_254_740_995
        ),
    ]

    private static let averages: [Row] = [
        ("of integers is a double", [1, 2], 1.5),
        ("with an integral value is a double", [1, 3], 2.0),
        ("of nothing is null", [], .null),
        ("of values without numbers is null", ["1", .null], .null),
        ("does not count values that are not numbers", [1, "9", .null, 3], 2.0),
        ("of values including NaN is NaN", [1, .double(.nan)], .double(.nan)),
        (
            "of large integers does not overflow", [.integer(.max), .integer(.max)],
            9_223_372_036_854_775_808.0
        ),
    ]

    private static func sumCheck(_ row: Row) -> Self {
        valueCheck("a sum \(row.promise)", row) { .sum($0) }
    }

    private static func averageCheck(_ row: Row) -> Self {
        valueCheck("an average \(row.promise)", row) { .average($0) }
    }

    private static func valueCheck(
        _ promise: String,
        _ row: Row,
        _ aggregation: @escaping @Sendable (FieldPath) -> Aggregation
    ) -> Self {
        Self(.aggregates, promise) { store in
            try await store.fill(
                all: row.values.enumerated().map { position, value in
                    ("\(position)", ["v": value, "m": ["v": value]])
                }
            )
            try await store.set(["w": 1], "without")
            let values = try await store.client.aggregate(
                store.query,
                [aggregation("v"), aggregation("m.v")]
            )
            #expect(values == [row.result, row.result])
        }
    }

    private static let countChecks: [Self] = [
        aggregated("a count counts the documents of the query", [.count()], [5]) {
            $0.where(.equal("half", 1))
        },
        aggregated("a count of nothing is 0", [.count()], [0]) { $0.where(.equal("half", 7)) },
        aggregated("a count stops at its limit", [.count(upTo: 3)], [3]) { $0 },
        aggregated("a count below its limit is exact", [.count(upTo: 100)], [10]) { $0 },
        aggregated("a count respects the query’s limit", [.count()], [4]) { $0.limit(to: 4) },
        aggregated("a count respects offset and limit", [.count()], [3]) {
            $0.offset(7).limit(to: 5)
        },
        aggregated("a count respects cursors", [.count()], [4]) {
            $0.order(by: "n").start(after: 2).end(at: 6)
        },
        aggregated("a count leaves out documents without the ordered field", [.count()], [0]) {
            $0.order(by: "none")
        },
        aggregated("a sum respects the limit and the order", [.sum("n")], [24]) {
            $0.order(by: "n", .descending).limit(to: 3)
        },
        aggregated("a sum respects limit(toLast:)", [.sum("n")], [24]) {
            $0.order(by: "n").limit(toLast: 3)
        },
        aggregated("a sum does not need its field to be selected", [.sum("n")], [45]) {
            $0.select("text")
        },
        aggregated(
            "several aggregations are computed at once and returned in order",
            [.sum("n"), .count(), .average("n"), .sum("half"), .count(upTo: 2)],
            [45, 10, 4.5, 5, 2]
        ) { $0 },
        aggregated(
            "several aggregations cover only documents that have all of their fields",
            [.sum("n"), .count(), .average("none"), .sum("none")],
            [0, 0, .null, 0]
        ) { $0 },
        Self(.aggregates, "a count next to a sum counts documents that have the field") {
            store async throws in
            try await store.fill(["a": ["n": 1], "b": ["n": "x"], "c": ["n": .null], "d": ["m": 1]])
            let values = try await store.client.aggregate(store.query, [.sum("n"), .count()])
            #expect(values == [1, 3])
            #expect(try await store.client.aggregate(store.query, [.count()]) == [4])
        },
        Self(.aggregates, "a limited sum takes the documents with the lowest values") {
            store async throws in
            try await store.fill([
                "a": ["n": 8], "b": ["n": 9], "c": ["m": 1], "d": ["n": 1], "e": ["n": 2],
            ])
            let limited = store.query.limit(to: 2)
            #expect(try await store.client.aggregate(limited, [.sum("n"), .count()]) == [3, 2])
            let rest = store.query.offset(1)
            #expect(try await store.client.aggregate(rest, [.sum("n"), .count()]) == [19, 3])
            #expect(try await store.client.aggregate(limited, [.count()]) == [2])
        },
    ]

    private static func aggregated(
        _ promise: String,
        _ aggregations: [Aggregation],
        _ expected: [DocumentValue],
        _ query: @escaping @Sendable (DocumentQuery) -> DocumentQuery
    ) -> Self {
        Self(.aggregates, promise) { store async throws in
            try await store.fillNumbers()
            #expect(try await store.client.aggregate(query(store.query), aggregations) == expected)
        }
    }

    private static let aggregateFrontChecks: [Self] = [
        Self(.aggregates, "a group is counted across its collections") { store in
            let group = "g" + store.name
            for id in ["a", "b", "c"] {
                let path = store.path(id).collection(group).document("x")
                try await store.client.setDocument(path, ["n": 1])
            }
            #expect(try await store.client.count(DocumentQuery(group: group)) == 3)
        },
        Self(.aggregates, "zero or six aggregations are rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.client.aggregate(store.query, [])
            }
            await store.expect(.invalidArgument) {
                _ = try await store.client.aggregate(
                    store.query,
                    Array(repeating: .count(), count: 6)
                )
            }
        },
        Self(.aggregates, "a count limited to 0 is rejected") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.client.aggregate(store.query, [.count(upTo: 0)])
            }
        },
        Self(
            .aggregates,
            "the adapter itself computes one value per aggregation",
            needs: .aggregation
        ) { store in
            try await store.fillNumbers()
            let query = try QueryValidation.checked(store.query)
            let result = try await store.adapter.read(
                ReadRequest(.aggregate(query, [.count(), .sum("n")]))
            )
            let values = try result.values
            #expect(values == [10, 45])
        },
    ]
}
