/// A writer of Protocol Buffers messages (protobuf.dev, "Encoding").
///
/// Fields with the default value are omitted, as in proto3.
package struct ProtobufWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

    /// Writes a field of type `uint32`, `uint64`, `int64` or an enumeration.
    package mutating func varint(_ field: Int, _ value: UInt64) {
        guard value != 0 else { return }
        tag(field, 0)
        varint(value)
    }

    package mutating func fixed64(_ field: Int, _ value: UInt64) {
        guard value != 0 else { return }
        presentFixed64(field, value)
    }

    /// Writes a number of a `oneof` with a fixed size, even if it is zero.
    package mutating func presentFixed64(_ field: Int, _ value: UInt64) {
        tag(field, 1)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func string(_ field: Int, _ text: String) {
        guard !text.isEmpty else { return }
        present(field, text)
    }

    /// Writes a string of a `oneof`, even if it is empty.
    package mutating func present(_ field: Int, _ text: String) {
        tag(field, 2)
        varint(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a number of a `oneof`, even if it is zero.
    package mutating func present(_ field: Int, _ value: UInt64) {
        tag(field, 0)
        varint(value)
    }

    package mutating func data(_ field: Int, _ data: some Collection<UInt8>) {
        guard !data.isEmpty else { return }
        present(field, data)
    }

    /// Writes bytes of a `oneof`, even if there are none.
    package mutating func present(_ field: Int, _ data: some Collection<UInt8>) {
        tag(field, 2)
        varint(UInt64(data.count))
        bytes.append(contentsOf: data)
    }

    /// Writes a nested message, even if it is empty.
    package mutating func message<Failure: Error>(
        _ field: Int,
        _ write: (inout ProtobufWriter) throws(Failure) -> Void
    ) throws(Failure) {
        tag(field, 2)
        let start = bytes.count
        try write(&self)
        // The length is inserted before the written bytes, which avoids a second buffer.
        var length = UInt64(bytes.count - start)
        guard length >= 0x80 else { return bytes.insert(UInt8(length), at: start) }
        var prefix: [UInt8] = []
        while length >= 0x80 {
            prefix.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        prefix.append(UInt8(length))
        bytes.insert(contentsOf: prefix, at: start)
    }

    package mutating func raw(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    package mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func tag(_ field: Int, _ type: UInt64) { varint(UInt64(field) << 3 | type) }
}
