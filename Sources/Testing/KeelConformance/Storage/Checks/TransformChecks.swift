import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let transforms: [Self] =
        incrementRules.map { rule("increment", $0) { .increment($0) } }
        + maximumRules.map { rule("maximum", $0) { .maximum($0) } }
        + minimumRules.map { rule("minimum", $0) { .minimum($0) } }
        + unionRules.map { listRule("arrayUnion", $0) { .arrayUnion($0) } }
        + removalRules.map { listRule("arrayRemove", $0) { .arrayRemove($0) } }
        + transformChecks

    /// The field's value before the transform, the operand, and the field's value after it.
    typealias Rule = (
        promise: String, before: DocumentValue?, operand: DocumentValue, after: DocumentValue
    )
    typealias ListRule = (
        promise: String, before: DocumentValue?, operand: [DocumentValue], after: DocumentValue
    )

    private static func rule(
        _ name: String,
        _ rule: Rule,
        _ operation: @escaping @Sendable (DocumentValue) -> FieldTransform.Operation
    ) -> Self {
        Self(.transforms, "\(name) \(rule.promise)") { store in
            try await store.set(rule.before.map { ["f": $0, "m": ["f": $0]] } ?? [:])
            #expect(try await store.transform("f", operation(rule.operand)) == [rule.after])
            #expect(try await store.transform("m.f", operation(rule.operand)) == [rule.after])
            #expect(try await store.fields() == ["f": rule.after, "m": ["f": rule.after]])
        }
    }

    private static func listRule(
        _ name: String,
        _ rule: ListRule,
        _ operation: @escaping @Sendable ([DocumentValue]) -> FieldTransform.Operation
    ) -> Self {
        Self(.transforms, "\(name) \(rule.promise)") { store in
            try await store.set(rule.before.map { ["f": $0] } ?? [:])
            // A receipt reports null in place of an array, which could be large.
            #expect(try await store.transform("f", operation(rule.operand)) == [.null])
            #expect(try await store.fields() == ["f": rule.after])
        }
    }

    private static let incrementRules: [Rule] = [
        ("adds integers to an integer", 40, 2, 42),
        ("adds a negative integer", 1, -3, -2),
        ("sets a missing field to the operand", nil, 7, 7),
        ("sets a missing field to a double operand", nil, 1.5, 1.5),
        ("replaces a string with the operand", "7", 1, 1),
        ("replaces null with the operand", .null, 1, 1),
        ("adds a double to an integer as a double", 1, 0.5, 1.5),
        ("keeps an integral sum a double if the operand is a double", 1, 1.0, 2.0),
        ("adds an integer to a double as a double", 0.5, 1, 1.5),
        ("saturates at the greatest integer", .integer(.max - 1), 5, .integer(.max)),
        ("saturates at the least integer", .integer(.min + 1), -5, .integer(.min)),
        (
            "overflows to infinity with doubles", .double(.greatestFiniteMagnitude),
            .double(.greatestFiniteMagnitude), .double(.infinity)
        ),
        ("keeps NaN", .double(.nan), 1, .double(.nan)),
        (
            "results in NaN for opposite infinities", .double(.infinity), .double(-.infinity),
            .double(.nan)
        ),
        ("adds integers beyond 2⁵³ exactly", 9_007_199_254_740_993, 1, 9_007_199_254_740_994),
    ]

    private static let maximumRules: [Rule] = [
        ("uses a larger operand", 1, 2, 2),
        ("keeps a larger stored number", 3, 2, 3),
        ("uses the type of a larger double", 1, 1.5, 1.5),
        ("uses the type of a larger integer", 1.5, 2, 2),
        ("keeps the stored type of equal numbers", 3, 3.0, 3),
        ("keeps the stored zero among zeros", .double(-0.0), 0, .double(-0.0)),
        ("is NaN if the operand is NaN", 1, .double(.nan), .double(.nan)),
        ("is NaN if the stored number is NaN", .double(.nan), 1, .double(.nan)),
        ("sets a missing field to the operand", nil, 5, 5),
        ("replaces a value that is not a number", true, -5, -5),
        (
            "compares exactly beyond 2⁵³", 9_007_199_254_740_992.0, 9_007_199_254_740_993,
            9_007_199_254_740_993
        ),
    ]

    private static let minimumRules: [Rule] = [
        ("uses a smaller operand", 2, 1, 1),
        ("keeps a smaller stored number", 2, 3, 2),
        ("uses the type of a smaller double", 2, 1.5, 1.5),
        ("uses the type of a smaller integer", 1.5, 1, 1),
        ("keeps the stored type of equal numbers", 3.0, 3, 3.0),
        ("is NaN if the operand is NaN", 1, .double(.nan), .double(.nan)),
        ("is NaN if the stored number is NaN", .double(.nan), 1, .double(.nan)),
        ("sets a missing field to the operand", nil, 5, 5),
        ("replaces a value that is not a number", "a", 5, 5),
        (
            "compares exactly beyond 2⁵³", 9_007_199_254_740_993, 9_007_199_254_740_992.0,
            9_007_199_254_740_992.0
        ),
    ]

    private static let unionRules: [ListRule] = [
        ("appends in the order given", [1], [3, 2], [1, 3, 2]),
        ("skips elements already present", [1, 2], [2, 3, 1], [1, 2, 3]),
        ("appends a repeated value once", [], [1, 1], [1]),
        ("creates an array for a missing field", nil, [1], [1]),
        ("replaces a value that is not an array", "a", [1], [1]),
        ("treats 3 and 3.0 as equal", [3], [3.0, 4.0], [3, 4.0]),
        ("treats NaN as equal to itself", [.double(.nan)], [.double(.nan)], [.double(.nan)]),
        (
            "treats maps with equal contents as equal", [["a": 1]], [["a": 1], ["a": 2]],
            [["a": 1], ["a": 2]]
        ),
        ("keeps repeated values already present", [1, 1], [2], [1, 1, 2]),
        (
            "distinguishes strings that look alike by their bytes", ["\u{e9}"], ["e\u{301}"],
            ["\u{e9}", "e\u{301}"]
        ),
        ("appends null", [], [.null], [.null]),
    ]

    private static let removalRules: [ListRule] = [
        ("removes every equivalent element", [1, 2, 1, 1.0], [1], [2]),
        ("keeps the order of the others", [3, 1, 2], [1], [3, 2]),
        ("creates an empty array for a missing field", nil, [1], []),
        ("replaces a value that is not an array with an empty array", "a", [1], []),
        ("ignores elements that are not present", [1], [2], [1]),
        ("removes NaN and null", [.double(.nan), .null, 1], [.double(.nan), .null], [1]),
        ("removes maps with equal contents", [["a": 1], ["a": 2]], [["a": 1]], [["a": 2]]),
    ]
}
