import KeelDocuments
import KeelTestKit

extension DocumentFields {
    static func random(depth: Int, using generator: inout SeededRandom) -> DocumentFields {
        var fields = DocumentFields()
        for _ in 0..<Int.random(in: 0...(depth * 4), using: &generator) {
            let length = Int.random(in: 1...12, using: &generator)
            let name = String(
                (0..<length).map { _ in "abcdé_👍z".randomElement(using: &generator) ?? "a" }
            )
            fields["f" + name] = .random(depth: depth, isInArray: false, using: &generator)
        }
        return fields
    }
}

extension DocumentValue {
    static func random(
        depth: Int,
        isInArray: Bool,
        using generator: inout SeededRandom
    ) -> DocumentValue {
        let bits = generator.next()
        switch Int.random(in: 0...(depth > 0 ? (isInArray ? 10 : 11) : 9), using: &generator) {
        case 0: return .null
        case 1: return .boolean(bits & 1 == 0)
        case 2: return .integer(Int64(bitPattern: bits >> (bits % 64)))
        case 3:
            let double = Double(bitPattern: bits)
            return .double(double.isNaN ? .nan : double)
        case 4: return .timestamp(Timestamp(microseconds: Int64(bitPattern: bits)))
        case 5: return .string(String(repeating: "é\u{301}x", count: Int(bits % 20)))
        case 6: return .bytes([UInt8](repeating: UInt8(bits % 256), count: Int(bits % 300)))
        case 7: return .reference("users/\(bits)")
        case 8: return .geopoint(GeoPoint(latitude: Double(bits % 90), longitude: -12.25))
        case 9 where !isInArray:
            return .vector(VectorValue((0...bits % 5).map { 1 / Double(bits >> $0) }))
        case 9: return .null
        case 10: return .map(DocumentFields.random(depth: depth - 1, using: &generator))
        default:
            return .array(
                (0..<Int(bits % 8)).map { _ in
                    .random(depth: depth - 1, isInArray: true, using: &generator)
                }
            )
        }
    }
}

extension Timestamp {
    /// The first whole second in the range of timestamps.
    static let earliest = Timestamp(microseconds: -9_223_372_036_854_000_000)
}
