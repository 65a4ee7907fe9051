/// A reader of the fields of a Protocol Buffers message, which ends at damaged bytes.
package struct ProtobufReader {
    /// A field's value, according to its wire type.
    package enum Value: Sendable {
        case varint(UInt64)
        case fixed64(UInt64)
        case data(ArraySlice<UInt8>)
        case fixed32(UInt32)
    }

    private var bytes: ArraySlice<UInt8>
    package private(set) var isDamaged = false

    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    package mutating func next() -> (field: Int, value: Value)? {
        guard !bytes.isEmpty, !isDamaged else { return nil }
        guard let tag = varint(), let value = value(of: tag & 7), tag >> 3 > 0, tag >> 3 <= 1 << 29
        else {
            isDamaged = true
            return nil
        }
        return (Int(tag >> 3), value)
    }

    private mutating func value(of type: UInt64) -> Value? {
        switch type {
        case 0: varint().map(Value.varint)
        case 1: number(8).map(Value.fixed64)
        case 2: data().map(Value.data)
        case 5: number(4).map { .fixed32(UInt32($0)) }
        default: nil
        }
    }

    package mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    package mutating func data() -> ArraySlice<UInt8>? {
        guard let length = varint(), length <= UInt64(bytes.count) else { return nil }
        defer { bytes = bytes.dropFirst(Int(length)) }
        return bytes.prefix(Int(length))
    }

    package var rest: ArraySlice<UInt8> { bytes }

    private mutating func number(_ count: Int) -> UInt64? {
        guard bytes.count >= count else { return nil }
        var value: UInt64 = 0
        for (position, byte) in bytes.prefix(count).enumerated() {
            value |= UInt64(byte) << UInt64(8 * position)
        }
        bytes = bytes.dropFirst(count)
        return value
    }
}
