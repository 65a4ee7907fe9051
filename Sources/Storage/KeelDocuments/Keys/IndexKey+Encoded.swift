package import KeelCBOR

extension IndexKey {
    package static func append(
        _ reader: inout CBORReader,
        to key: inout [UInt8]
    ) throws(CBORError) {
        switch try reader.peekKind() {
        case .null:
            try reader.readNull()
            key.append(Kind.null)
        case .boolean:
            key.append(Kind.boolean)
            key.append(try reader.readBoolean() ? 1 : 0)
        case .unsigned, .negative: append(integer: try reader.readInteger(), to: &key)
        case .float: append(double: try reader.readDouble(), to: &key)
        case .text:
            key.append(Kind.string)
            append(escaping: reader.bytes[try reader.readTextRange(validating: false)], to: &key)
        case .bytes:
            key.append(Kind.bytes)
            append(escaping: reader.bytes[try reader.readByteStringRange()], to: &key)
        case .array: try appendArray(&reader, to: &key)
        case .map: try appendMap(&reader, to: &key)
        case .tag: try appendTagged(&reader, to: &key)
        default: throw CBORError(.unsupported, at: reader.position)
        }
    }

    private static func appendArray(
        _ reader: inout CBORReader,
        to key: inout [UInt8]
    ) throws(CBORError) {
        guard let count = try reader.readArrayHeader() else {
            throw CBORError(.unsupported, at: reader.position)
        }
        key.append(Kind.array)
        for _ in 0..<count { try append(&reader, to: &key) }
        key.append(0)
    }

    private static func appendMap(
        _ reader: inout CBORReader,
        to key: inout [UInt8]
    ) throws(CBORError) {
        guard let count = try reader.readMapHeader() else {
            throw CBORError(.unsupported, at: reader.position)
        }
        // Bodies sort shorter names first; the order of maps compares only the bytes of names.
        var entries: [(name: ArraySlice<UInt8>, key: [UInt8])] = []
        for _ in 0..<count {
            let name = reader.bytes[try reader.readTextRange(validating: false)]
            var entry: [UInt8] = []
            try append(&reader, to: &entry)
            entries.append((name, entry))
        }
        entries.sort { $0.name.lexicographicallyPrecedes($1.name) }
        key.append(Kind.map)
        for entry in entries {
            key.append(Kind.string)
            append(escaping: entry.name, to: &key)
            key.append(contentsOf: entry.key)
        }
        key.append(0)
    }

    private static func appendTagged(
        _ reader: inout CBORReader,
        to key: inout [UInt8]
    ) throws(CBORError) {
        let start = reader.position
        switch try reader.readTag() {
        case BodyTag.time:
            let time = try reader.readTimestampContent()
            key.append(Kind.timestamp)
            append(word: UInt64(bitPattern: time.microseconds) ^ (1 << 63), to: &key)
        case BodyTag.reference:
            key.append(Kind.reference)
            let path = reader.bytes[try reader.readTextRange(validating: false)]
            for segment in path.split(separator: UInt8(ascii: "/")) {
                append(escaping: segment, to: &key)
            }
            appendEnd(ofReference: &key)
        case BodyTag.geopoint:
            let point = try reader.readGeoPointContent()
            key.append(Kind.geopoint)
            append(word: orderedBits(point.latitude), to: &key)
            append(word: orderedBits(point.longitude), to: &key)
        case BodyTag.vector:
            let elements = try reader.readVectorContent().elements
            key.append(Kind.vector)
            key.reserveCapacity(key.count + 4 + 8 * elements.count)
            let count = UInt32(truncatingIfNeeded: elements.count)
            for shift in stride(from: UInt32(24), through: 0, by: -8) {
                key.append(UInt8(truncatingIfNeeded: count >> shift))
            }
            // The key of no number is zero, so that NaN, as a number without another kind, precedes the others.
            for element in elements {
                append(word: element.isNaN ? 0 : orderedBits(element), to: &key)
            }
        default: throw CBORError(.unsupported, at: start)
        }
    }

    /// 2^53, from which doubles no longer represent every integer.
    private static let exactLimit = 9_007_199_254_740_992.0

    static func append(integer: Int64, to key: inout [UInt8]) {
        var below = Double(integer)
        // The conversion may have rounded up, even beyond the range of Int64.
        if below >= 0x1p63 || Int64(below) > integer { below = below.nextDown }
        append(
            number: below,
            distance: UInt16(truncatingIfNeeded: integer - Int64(below)),
            to: &key
        )
    }

    static func append(double: Double, to key: inout [UInt8]) {
        guard !double.isNaN else {
            key.append(Kind.notANumber)
            return
        }
        append(number: double, distance: 0, to: &key)
    }

    private static func append(number: Double, distance: UInt16, to key: inout [UInt8]) {
        key.append(Kind.number)
        append(word: orderedBits(number), to: &key)
        // The limit is inclusive: doubles are two apart above 2^53, so 2^53 + 1 needs a distance.
        if abs(number) >= exactLimit {
            key.append(UInt8(truncatingIfNeeded: distance >> 8))
            key.append(UInt8(truncatingIfNeeded: distance))
        }
    }

    /// Returns the bits of a double, arranged to compare like the number; -0 becomes 0.
    private static func orderedBits(_ number: Double) -> UInt64 {
        let bits = (number == 0 ? 0.0 : number).bitPattern
        return bits >> 63 == 1 ? ~bits : bits | 1 << 63
    }

    private static func append(word: UInt64, to key: inout [UInt8]) {
        var shift: UInt64 = 64
        while shift > 0 {
            shift -= 8
            key.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }
}
