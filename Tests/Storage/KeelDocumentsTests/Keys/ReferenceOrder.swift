import KeelDocuments

/// A slow reference implementation of the order of values, against which keys are tested.
///
/// It shares no code with the keys: it compares values, never their encodings.
enum ReferenceOrder {
    /// Returns a negative number, 0 or a positive number if `one` precedes, is equivalent to or follows `other`.
    static func compare(_ one: DocumentValue, _ other: DocumentValue) -> Int {
        let (first, second) = (rank(one), rank(other))
        guard first == second else { return first < second ? -1 : 1 }
        switch (one, other) {
        case (.boolean(let a), .boolean(let b)): return a == b ? 0 : b ? -1 : 1
        case (.timestamp(let a), .timestamp(let b)): return order(a.microseconds, b.microseconds)
        case (.string(let a), .string(let b)): return compare(Array(a.utf8), Array(b.utf8), order)
        case (.bytes(let a), .bytes(let b)): return compare(a, b, order)
        case (.reference(let a), .reference(let b)): return compare(a, b)
        case (.geopoint(let a), .geopoint(let b)):
            let byLatitude = order(a.latitude, b.latitude)
            return byLatitude == 0 ? order(a.longitude, b.longitude) : byLatitude
        case (.array(let a), .array(let b)): return compare(a, b, compare)
        case (.vector(let a), .vector(let b)):
            let byCount = order(a.elements.count, b.elements.count)
            guard byCount == 0 else { return byCount }
            return compare(a.elements, b.elements) { compareNumbers(.double($0), .double($1)) }
        case (.map(let a), .map(let b)): return compare(a, b)
        case (.null, .null): return 0
        default: return compareNumbers(one, other)
        }
    }

    private static func rank(_ value: DocumentValue) -> Int {
        switch value {
        case .null: 0
        case .boolean: 1
        case .integer, .double: 2
        case .timestamp: 3
        case .string: 4
        case .bytes: 5
        case .reference: 6
        case .geopoint: 7
        case .array: 8
        case .vector: 9
        case .map: 10
        }
    }

    private static func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int {
        one < other ? -1 : one == other ? 0 : 1
    }

    private static func compare<Element>(
        _ one: [Element],
        _ other: [Element],
        _ compare: (Element, Element) -> Int
    ) -> Int {
        for (left, right) in zip(one, other) {
            let result = compare(left, right)
            if result != 0 { return result }
        }
        return order(one.count, other.count)
    }

    private static func compare(_ one: DocumentPath, _ other: DocumentPath) -> Int {
        func segments(_ path: DocumentPath) -> [[UInt8]] {
            path.string.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
        }
        return compare(segments(one), segments(other)) { compare($0, $1, order) }
    }

    private static func compare(_ one: DocumentFields, _ other: DocumentFields) -> Int {
        func sorted(_ fields: DocumentFields) -> [(name: [UInt8], value: DocumentValue)] {
            fields.map { (Array($0.name.utf8), $0.value) }
                .sorted { compare($0.name, $1.name, order) < 0 }
        }
        return compare(sorted(one), sorted(other)) { left, right in
            let byName = compare(left.name, right.name, order)
            return byName == 0 ? compare(left.value, right.value) : byName
        }
    }

    private static func compareNumbers(_ one: DocumentValue, _ other: DocumentValue) -> Int {
        switch (one, other) {
        case (.integer(let a), .integer(let b)): order(a, b)
        case (.integer(let a), .double(let b)): compare(a, b)
        case (.double(let a), .integer(let b)): -compare(b, a)
        case (.double(let a), .double(let b)) where a.isNaN || b.isNaN:
            order(a.isNaN ? 0 : 1, b.isNaN ? 0 : 1)
        case (.double(let a), .double(let b)): order(a, b)
        default: 0
        }
    }

    /// Compares an integer with a double without rounding either.
    private static func compare(_ integer: Int64, _ double: Double) -> Int {
        if double.isNaN { return 1 }
        // 2⁶³ and -2⁶³ are exact as doubles.
        if double >= 9_223_372_036_854_775_808 { return -1 }
        if double < -9_223_372_036_854_775_808 { return 1 }
        let whole = double.rounded(.towardZero)
        let byWhole = order(integer, Int64(whole))
        return byWhole == 0 ? order(0, double - whole) : byWhole
    }
}
