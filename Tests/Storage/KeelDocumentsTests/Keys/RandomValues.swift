import KeelDocuments
import KeelTestKit

/// Random values of every kind, close to each other, where ordering errors are most likely.
struct RandomValues {
    var random: SeededRandom

    mutating func value(depth: Int = 2) -> DocumentValue {
        switch Int.random(in: 0..<(depth > 0 ? 15 : 12), using: &random) {
        case 0: return [.null, true, false].randomElement(using: &random) ?? .null
        case 1...4: return number()
        case 5: return .timestamp(Timestamp(microseconds: integer()))
        case 6...7: return .string(text())
        case 8: return .bytes(bytes())
        case 9: return .reference(path())
        case 10: return .geopoint(GeoPoint(latitude: degrees(90), longitude: degrees(180)))
        case 11: return .vector(VectorValue((0..<count()).map { _ in number().doubleValue ?? 0 }))
        case 12...13: return .array((0..<count()).map { _ in value(depth: depth - 1) })
        default:
            return .map(
                DocumentFields((0..<count()).map { _ in (text(), value(depth: depth - 1)) })
            )
        }
    }

    private mutating func count() -> Int { Int.random(in: 0...3, using: &random) }

    private mutating func number() -> DocumentValue {
        let integer = integer()
        switch Int.random(in: 0...5, using: &random) {
        case 0...1: return .integer(integer)
        case 2: return .double(Double(integer))
        case 3:
            let double = Double(integer)
            return .double(Bool.random(using: &random) ? double.nextUp : double.nextDown)
        case 4: return .double(Double(bitPattern: random.next()))
        default:
            let special = [
                0.0, -0.0, .nan, -.nan, .infinity, -.infinity, 0.5, -0.5, .leastNonzeroMagnitude,
                -.leastNonzeroMagnitude, .greatestFiniteMagnitude, 0x1p63, -0x1p63, 0x1p53, -0x1p53,
            ]
            return .double(special.randomElement(using: &random) ?? 0)
        }
    }

    /// Returns an integer near 0, near a power of two, or anywhere.
    private mutating func integer() -> Int64 {
        let near = Int64.random(in: -3...3, using: &random)
        switch Int.random(in: 0...4, using: &random) {
        case 0: return near
        case 1:
            let power = Int64(1) << Int64.random(in: 50...62, using: &random)
            return Bool.random(using: &random) ? power + near : -power + near
        case 2: return .max - abs(near)
        case 3: return .min + abs(near)
        default:
            return Int64(bitPattern: random.next() >> UInt64.random(in: 0..<64, using: &random))
        }
    }

    private mutating func degrees(_ limit: Double) -> Double {
        let choices = [
            0, -0.0, 0.5, -0.5, limit, -limit, Double.random(in: -limit...limit, using: &random),
        ]
        return choices.randomElement(using: &random) ?? 0
    }

    private mutating func text() -> String {
        let pieces = [
            "", "a", "b", "\u{0}", "\u{1}", "é", "e\u{301}", "\u{ff5e}", "😀", "👩‍👩‍👧", "z", "\u{7f}",
            "A",
        ]
        if Int.random(in: 0..<40, using: &random) == 0 {
            return String(repeating: "long", count: 500)
                + (pieces.randomElement(using: &random) ?? "")
        }
        return (0..<count()).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    private mutating func bytes() -> [UInt8] {
        (0..<count()).map { _ in [0, 1, 2, 127, 128, 254, 255].randomElement(using: &random) ?? 0 }
    }

    private mutating func path() -> DocumentPath {
        let names = ["a", "b", "a!", "aa", "\u{0}", "\u{0}a", "a\u{0}", "é", "~", "a-b"]
        let count = Bool.random(using: &random) ? 2 : 4
        return DocumentPath(
            segments: (0..<count).map { _ in names.randomElement(using: &random) ?? "a" }
        )
    }
}
