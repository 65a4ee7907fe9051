import Foundation
import KeelCore
import KeelStorage
import KeelStorageFirestore

/// A time with a resolution of nanoseconds, which Keel's own times do not have.
struct SemanticsInstant: Hashable, Comparable {
    var nanoseconds: Int128

    init?(_ text: String) {
        let pattern = /(.{10,})[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)/
        guard let match = try? pattern.wholeMatch(in: text),
            let whole = FirestoreTime.time(of: "\(match.1)T\(match.2)\(match.4)")
        else { return nil }
        let digits = String(match.3 ?? "0").padding(toLength: 9, withPad: "0", startingAt: 0)
        guard let fraction = Int128(digits) else { return nil }
        nanoseconds = Int128(whole.microseconds) * 1000 + fraction
    }

    /// Returns the time after a shift such as `-1ms`, in the form of RFC 3339.
    func shifted(by shift: Substring) -> String? {
        let units: [Substring: Int128] = [
            "ns": 1, "us": 1000, "ms": 1_000_000, "ss": 1_000_000_000,
        ]
        guard let count = Int128(shift.dropLast(2)), let unit = units[shift.suffix(2)] else {
            return nil
        }
        let sum = nanoseconds + count * unit
        let (seconds, rest) = sum.quotientAndRemainder(dividingBy: 1_000_000_000)
        let date = Date(timeIntervalSince1970: TimeInterval(Int64(seconds)))
        let whole = date.formatted(.iso8601).dropLast()
        let fraction = String(String(rest + 1_000_000_000).dropFirst())
        return "\(whole).\(fraction)Z"
    }

    static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// Compares answers with the expectations of a row, and stores the named times.
struct SemanticsComparison {
    var times: [String: SemanticsInstant] = [:]

    /// Returns whether two typed values are equal and have the same type.
    mutating func same(_ want: FirestoreJSON, _ got: FirestoreJSON?) -> Bool {
        guard let got else { return false }
        if let matcher = want["matches"]?.text { return fits(got, want, matcher) }
        let kinds = (want.members ?? []).map(\.name).filter { $0.hasSuffix("Value") }
        guard let kind = kinds.first, kinds.count == 1, let one = want[kind], let other = got[kind]
        else { return false }
        switch kind {
        case "nullValue": return true
        case "integerValue": return one.wholeNumber == other.wholeNumber
        case "doubleValue":
            guard let one = one.anyNumber, let other = other.anyNumber else { return false }
            return one == other || (one.isNaN && other.isNaN)
        case "timestampValue":
            return Self.instant(one) != nil && Self.instant(one) == Self.instant(other)
        case "bytesValue": return Base64.decode(one.text ?? "") == Base64.decode(other.text ?? "")
        case "geoPointValue":
            return ["latitude", "longitude"].allSatisfy {
                (one[$0]?.anyNumber ?? 0) == (other[$0]?.anyNumber ?? 0)
            }
        case "arrayValue":
            return same(one["values"]?.elements ?? [], other["values"]?.elements ?? [])
        case "mapValue": return sameFields(one["fields"], other["fields"])
        default: return one == other
        }
    }

    mutating func same(_ want: [FirestoreJSON], _ got: [FirestoreJSON]) -> Bool {
        guard want.count == got.count else { return false }
        for (one, other) in zip(want, got) where !same(one, other) { return false }
        return true
    }

    /// Returns whether two messages have the same fields with equal values.
    mutating func sameFields(_ want: FirestoreJSON?, _ got: FirestoreJSON?) -> Bool {
        let wanted = want?.members ?? []
        guard Set(wanted.map(\.name)) == Set((got?.members ?? []).map(\.name)) else { return false }
        for member in wanted where !same(member.value, got?[member.name]) { return false }
        return true
    }

    /// Returns whether an answer contains at least the expected members.
    mutating func contains(_ want: FirestoreJSON, _ got: FirestoreJSON?) -> Bool {
        switch want {
        case .object(let members):
            if let matcher = want["matches"]?.text { return holds(got, want, matcher) }
            if let only = members.first, members.count == 1, only.name.hasSuffix("Value") {
                return same(want, got)
            }
            guard got?.members != nil else { return false }
            for member in members where !contains(member.value, got?[member.name]) { return false }
            return true
        case .array(let elements):
            guard let others = got?.elements, others.count == elements.count else { return false }
            for (one, other) in zip(elements, others) where !contains(one, other) { return false }
            return true
        default: return want == got || (want.anyNumber != nil && want.anyNumber == got?.anyNumber)
        }
    }

    private mutating func fits(
        _ got: FirestoreJSON,
        _ want: FirestoreJSON,
        _ matcher: String
    ) -> Bool {
        switch matcher {
        case "timestamp":
            guard let time = got["timestampValue"].flatMap(Self.instant) else { return false }
            if want["grain"]?.text == "ms", time.nanoseconds % 1_000_000 != 0 { return false }
            return isNamed(want["as"]?.text.map { "value:\($0)" }, time)
        case "number":
            let kinds =
                want["type"]?.elements?.compactMap(\.text) ?? ["integerValue", "doubleValue"]
            guard let number = kinds.lazy.compactMap({ got[$0]?.anyNumber }).first,
                let value = want["value"]?.anyNumber
            else { return false }
            return abs(number - value) <= want["within"]?.anyNumber ?? 0
        case "oneOf":
            for value in want["values"]?.elements ?? [] where same(value, got) { return true }
            return false
        default: return false
        }
    }

    private mutating func holds(
        _ got: FirestoreJSON?,
        _ want: FirestoreJSON,
        _ matcher: String
    ) -> Bool {
        switch matcher {
        case "timestamp", "number", "oneOf": return same(want, got)
        case "absent": return [nil, .null, "", [], [:], false, .integer(0)].contains(got)
        case "present": return got != nil && got != .null
        case "size":
            guard let size = got?.elements?.count ?? got?.members?.count ?? got?.text?.count else {
                return false
            }
            return size >= want["least"]?.wholeNumber ?? 0
                && size <= want["most"]?.wholeNumber ?? .max
        case "inAnyOrder":
            guard var rest = got?.elements, let items = want["items"]?.elements,
                rest.count == items.count
            else { return false }
            for item in items {
                guard let found = rest.indices.first(where: { contains(item, rest[$0]) }) else {
                    return false
                }
                rest.remove(at: found)
            }
            return true
        case "instant":
            guard let time = got.flatMap(Self.instant), isNamed(want["as"]?.text, time) else {
                return false
            }
            func other(_ relation: String) -> SemanticsInstant? {
                want[relation]?.text.flatMap { times[$0] }
            }
            return other("after").map { time > $0 } ?? true
                && other("notBefore").map { time >= $0 } ?? true
                && other("equals").map { time == $0 } ?? true
        case "fields": return sameFields(want["fields"], got)
        default: return false
        }
    }

    /// Returns whether a time equals the stored time of the name; stores the time if there is none.
    private mutating func isNamed(_ name: String?, _ time: SemanticsInstant) -> Bool {
        guard let name else { return true }
        guard let known = times[name] else {
            times[name] = time
            return true
        }
        return known == time
    }

    private static func instant(_ json: FirestoreJSON) -> SemanticsInstant? {
        json.text.flatMap(SemanticsInstant.init)
    }
}
