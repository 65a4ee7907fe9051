import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let filters: [Self] =
        Menagerie.Kind.allCases.flatMap(equalityChecks)
        + Menagerie.Kind.allCases.filter { $0 != .null }.flatMap(inequalityChecks)
        + emptinessChecks + membershipChecks + compositeChecks + idChecks + refusedFilterChecks

    private typealias Animal = Menagerie.Animal

    /// Returns a check that a filter on the menagerie finds exactly the animals of a rule.
    private static func finds(
        _ promise: String,
        _ filter: DocumentFilter,
        _ rule: @escaping @Sendable (Animal) -> Bool
    ) -> Self {
        Self(.filters, promise) { store in
            try await store.fillMenagerie()
            let expected = Menagerie.animals.filter(rule).map(\.id)
            let found = try await store.ids(where: filter)
            #expect(found == expected)
            #expect(!expected.isEmpty && expected.count < Menagerie.animals.count)
        }
    }

    private static func equalityChecks(_ kind: Menagerie.Kind) -> [Self] {
        let one = Menagerie.specimen(of: kind)
        return [
            finds("== \(kind) finds only the equivalent values", .equal("v", one.value)) {
                $0.rung == one.rung
            },
            finds("!= \(kind) finds all other values except null", .notEqual("v", one.value)) {
                $0.rung != one.rung && $0.kind != .null
            },
            finds("in [\(kind)] finds the equivalent values", .in("v", [one.value, "none such"])) {
                $0.rung == one.rung
            },
            finds(
                "array-contains \(kind) finds the arrays that contain it",
                .arrayContains("a", one.value)
            ) { $0.rung == one.rung },
        ].filter { check in
            // Neither an array nor a vector can be directly in an array, and null is not a member of anything.
            switch kind {
            case .array, .vector: !check.promise.hasPrefix("array-contains")
            case .null: check.promise.hasPrefix("== ") || check.promise.hasPrefix("!= ")
            default: true
            }
        }
    }

    private static func inequalityChecks(_ kind: Menagerie.Kind) -> [Self] {
        let one = Menagerie.specimen(of: kind)
        return [
            finds("< \(kind) finds only lesser values of its kind", .less("v", one.value)) {
                $0.kind == kind && $0.rung < one.rung && !$0.isNaN
            },
            finds("<= \(kind) also finds equivalent values", .lessOrEqual("v", one.value)) {
                $0.kind == kind && $0.rung <= one.rung && !$0.isNaN
            },
            finds("> \(kind) finds only greater values of its kind", .greater("v", one.value)) {
                $0.kind == kind && $0.rung > one.rung && !$0.isNaN
            },
            finds(">= \(kind) also finds equivalent values", .greaterOrEqual("v", one.value)) {
                $0.kind == kind && $0.rung >= one.rung && !$0.isNaN
            },
        ].filter { check in
            // No boolean is greater than true.
            !(kind == .boolean && check.promise.hasPrefix("> "))
        }
    }

    private static let emptinessChecks: [Self] = [
        finds("== NaN finds NaN", .equal("v", .double(.nan))) { $0.isNaN },
        finds("!= NaN finds everything except NaN and null", .notEqual("v", .double(.nan))) {
            !$0.isNaN && $0.kind != .null
        },
        finds("> negative infinity omits NaN", .greater("v", .double(-.infinity))) {
            if case .double(-.infinity) = $0.value { return false }
            return $0.kind == .number && !$0.isNaN
        },
        findsNothing("< the least number", .less("v", .double(-.infinity))),
        findsNothing("< null", .less("v", .null)),
        findsNothing("<= null", .lessOrEqual("v", .null)),
        findsNothing(">= null", .greaterOrEqual("v", .null)),
        findsNothing("<= NaN", .lessOrEqual("v", .double(.nan))),
        findsNothing("> NaN", .greater("v", .double(.nan))),
        missing("==", .equal("v", .null)),
        missing("!=", .notEqual("v", 1)),
        missing("!= null", .notEqual("v", .null)),
        missing("not-in", .notIn("v", [1])),
        missing("in", .in("v", [.null, 1])),
        missing("<", .less("v", 1)),
        missing(">=", .greaterOrEqual("v", "")),
        missing("array-contains", .arrayContains("v", .null)),
    ]

    private static func findsNothing(_ name: String, _ filter: DocumentFilter) -> Self {
        Self(.filters, "\(name) finds nothing") { store in
            try await store.fillMenagerie()
            #expect(try await store.ids(where: filter) == [])
            #expect(try await store.client.count(store.query.where(filter)) == 0)
        }
    }

    private static func missing(_ name: String, _ filter: DocumentFilter) -> Self {
        Self(.filters, "\(name) never finds a document without the field") { store async throws in
            try await store.fill(["empty": [:], "other": ["w": 1], "near": ["V": 1, "v.w": 2]])
            #expect(try await store.ids(where: filter) == [])
        }
    }

    private static let membershipChecks: [Self] = [
        finds("in finds values of several kinds", .in("v", [1, "a", true])) {
            [.integer(1), .double(1), "a", true].contains($0.value)
        },
        finds("in ignores null and NaN", .in("v", [.null, 1, .double(.nan)])) {
            [.integer(1), .double(1)].contains($0.value)
        },
        findsNothing("in [null]", .in("v", [.null])),
        findsNothing("in [NaN]", .in("v", [.double(.nan)])),
        findsNothing(
            "in with nulls combined with another condition",
            .and([.in("v", [.null, .double(.nan)]), .greater(.documentID, "a")])
        ),
        finds(
            "an or with a side that finds nothing finds the results of the other sides",
            .or([.in("v", [.null]), .equal("v", 1)])
        ) {
            [.integer(1), .double(1)].contains($0.value)
        },
        finds("not-in finds values that are neither listed nor null", .notIn("v", [1, "a", true])) {
            ![.integer(1), .double(1), "a", .null, true].contains($0.value)
        },
        finds("not-in NaN omits only null", .notIn("v", [.double(.nan)])) {
            $0.kind != .null
        },
        Self(.filters, "not-in with a null in its list finds nothing") { store in
            try await store.fillMenagerie()
            #expect(try await store.ids(where: .notIn("v", [1, .null])) == [])
        },
        finds(
            "array-contains-any finds arrays that contain one of the values",
            .arrayContainsAny("a", [true, 1.0])
        ) { [true, .integer(1), .double(1)].contains($0.value) },
        findsNothing("array-contains null", .arrayContains("a", .null)),
        findsNothing("array-contains NaN", .arrayContains("a", .double(.nan))),
        findsNothing(
            "array-contains-any of null and NaN",
            .arrayContainsAny("a", [.null, .double(.nan)])
        ),
        finds("array-contains-any ignores null", .arrayContainsAny("a", [.null, true])) {
            $0.value == true
        },
        Self(.filters, "== on an array matches nulls and NaNs in it") { store async throws in
            try await store.fill(["a": ["v": [.null, .double(.nan)]], "b": ["v": [.null]]])
            #expect(try await store.ids(where: .equal("v", [.null, .double(.nan)])) == ["a"])
        },
        Self(.filters, "array-contains compares elements, not their contents") {
            store async throws in
            try await store.fill([
                "yes": ["v": [["a": 1], 2]], "deep": ["v": [["x": ["a": 1]]]],
                "map": ["v": ["a": 1]],
            ])
            #expect(try await store.ids(where: .arrayContains("v", ["a": 1])) == ["yes"])
        },
        Self(.filters, "array-contains finds nothing if the field is not an array") {
            store async throws in
            try await store.fill(["a": ["v": 1], "b": ["v": "1"], "c": ["v": ["1": 1]]])
            #expect(try await store.ids(where: .arrayContains("v", 1)) == [])
        },
        Self(.filters, "array-contains-any finds a document with several of the values once") {
            store async throws in
            try await store.fill(["a": ["v": [1, 2, 3, 1]]])
            #expect(try await store.ids(where: .arrayContainsAny("v", [1, 2, 3])) == ["a"])
        },
        Self(.filters, "in finds a document once even if its value is listed repeatedly") {
            store async throws in
            try await store.fill(["a": ["v": 1]])
            #expect(try await store.ids(where: .in("v", [1, 1.0, 1])) == ["a"])
        },
        Self(.filters, "in accepts 30 values") { store async throws in
            try await store.fill(all: (0..<40).map { ("\($0)", ["v": .integer($0)]) })
            let values = (0..<30).map { DocumentValue.integer($0) }
            #expect(try await store.ids(where: .in("v", values)).count == 30)
        },
        Self(.filters, "== on an array compares the entire array") { store async throws in
            try await store.fill(["a": ["v": [1, 2]], "b": ["v": [2, 1]], "c": ["v": [1, 2, 3]]])
            #expect(try await store.ids(where: .equal("v", [1, 2])) == ["a"])
        },
    ]
}

extension StoreUnderTest {
    /// Stores each animal as `v`, and as an element of the array `a`.
    func fillMenagerie() async throws {
        try await fill(
            all: Menagerie.animals.map { animal in
                // Neither can be directly in an array, and a map around it would not match.
                let isList = animal.kind == .array || animal.kind == .vector
                return (
                    animal.id,
                    isList ? ["v": animal.value] : ["v": animal.value, "a": ["x", animal.value]]
                )
            }
        )
    }
}
