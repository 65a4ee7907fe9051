internal import FoundationEssentials

// Predicates and sort orders, which belong to Foundation on Apple's systems; Foundation on Linux lacks formats. Only
// the formats that Keel uses are supported: any other ends the process, like an invalid one on Apple's systems.

/// A condition on managed objects.
open class NSPredicate {
    private let test: (NSManagedObject) -> Bool
    /// The format and its arguments, for tests.
    public let predicateFormat: String

    init(_ format: String, _ test: @escaping (NSManagedObject) -> Bool) {
        predicateFormat = format
        self.test = test
    }

    public convenience init(format: String, argumentArray: [Any]?) {
        var arguments = argumentArray ?? []
        guard !arguments.isEmpty, let key = arguments.removeFirst() as? String else {
            preconditionFailure("The first argument of \"\(format)\" is no key.")
        }
        let constant = arguments.first.map { "\($0)" } ?? ""
        let text = format.split(separator: " ").map { word in
            switch word {
            case "%K": key
            case "%@": constant
            default: String(word)
            }
        }.joined(separator: " ")
        self.init(text, Self.test(format, key, arguments.first))
    }

    func evaluate(_ object: NSManagedObject) -> Bool { test(object) }

    private static func test(
        _ format: String,
        _ key: String,
        _ constant: Any?
    ) -> (NSManagedObject) -> Bool {
        func ordered(_ test: @escaping (Int) -> Bool) -> (NSManagedObject) -> Bool {
            { object in
                // Nothing is less or greater than nil.
                guard let value = object.value(forKey: key), let constant else { return false }
                return test(Order.compare(value, constant))
            }
        }
        func isAmong(_ object: NSManagedObject) -> Bool {
            guard let list = constant as? [Any] else { preconditionFailure("IN needs a list.") }
            guard let value = object.value(forKey: key) else { return false }
            return list.contains { Order.compare(value, $0) == 0 }
        }
        return switch format {
        case "%K == nil": { $0.value(forKey: key) == nil }
        case "%K != nil": { $0.value(forKey: key) != nil }
        case "%K == %@": ordered { $0 == 0 }
        case "%K != %@": ordered { $0 != 0 }
        case "%K < %@": ordered { $0 < 0 }
        case "%K <= %@": ordered { $0 <= 0 }
        case "%K > %@": ordered { $0 > 0 }
        case "%K >= %@": ordered { $0 >= 0 }
        case "%K IN %@": isAmong
        case "NOT (%K IN %@)": { $0.value(forKey: key) != nil && !isAmong($0) }
        default: preconditionFailure("The stand-in does not know \"\(format)\".")
        }
    }
}

/// A combination of conditions.
public final class NSCompoundPredicate: NSPredicate {
    public init(andPredicateWithSubpredicates parts: [NSPredicate]) {
        super.init(Self.text(parts, " AND ")) { object in parts.allSatisfy { $0.evaluate(object) } }
    }

    public init(orPredicateWithSubpredicates parts: [NSPredicate]) {
        super.init(Self.text(parts, " OR ")) { object in parts.contains { $0.evaluate(object) } }
    }

    private static func text(_ parts: [NSPredicate], _ word: String) -> String {
        "(" + parts.map(\.predicateFormat).joined(separator: word) + ")"
    }
}

/// A sort order by one attribute.
public final class NSSortDescriptor {
    let key: String
    let ascending: Bool

    public init(key: String?, ascending: Bool) {
        self.key = key ?? ""
        self.ascending = ascending
    }
}

enum Order {
    /// Returns a number less than, equal to or greater than zero; values of different types end the process, because
    /// the real store throws an exception.
    static func compare(_ one: Any, _ other: Any) -> Int {
        func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int {
            one < other ? -1 : one == other ? 0 : 1
        }
        return switch (one, other) {
        case (let one as Bool, let other as Bool): one == other ? 0 : one ? 1 : -1
        case (let one as Int64, let other as Int64): order(one, other)
        case (let one as Double, let other as Double): order(one, other)
        case (let one as String, let other as String): order(Bytes(one.utf8), Bytes(other.utf8))
        case (let one as Date, let other as Date): order(one, other)
        case (let one as UUID, let other as UUID): order(one.uuidString, other.uuidString)
        case (let one as Data, let other as Data): order(Bytes(one), Bytes(other))
        default: preconditionFailure("\(type(of: one)) is compared with \(type(of: other)).")
        }
    }

    private struct Bytes: Comparable {
        let content: [UInt8]
        init(_ content: some Sequence<UInt8>) { self.content = Array(content) }
        static func < (one: Self, other: Self) -> Bool {
            one.content.lexicographicallyPrecedes(other.content)
        }
    }
}
