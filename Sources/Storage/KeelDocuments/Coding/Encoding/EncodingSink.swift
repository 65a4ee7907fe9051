internal import KeelCBOR

final class EncodingContext {
    let keys: DocumentKeyStrategy
    let userInfo: [CodingUserInfoKey: Any]
    var transforms: [FieldTransform] = []
    var documentID: String?
    var hasNilID = false
    private var converted = ConvertedKeys()
    private var lastSerial = 0

    init(keys: DocumentKeyStrategy, userInfo: [CodingUserInfoKey: Any]) {
        self.keys = keys
        self.userInfo = userInfo
    }

    func fieldName(_ key: String) -> String { converted.fieldName(key, by: keys) }

    func nextSerial() -> Int {
        lastSerial += 1
        return lastSerial
    }
}

/// A buffer for encoded items.
///
/// A map appends its fields as they arrive, and sorts them when it ends. Nested maps end first, so the bytes and fields
/// of the map being finished are at the end.
final class EncodingSink {
    /// A field of an unfinished map, as offsets in the bytes.
    struct Field {
        var start: Int
        /// The end of the name, and the start of the value.
        var value: Int
        /// The end of the value; if a deferred frame holds the value, `~index`, which is negative.
        var end: Int
    }

    let context: EncodingContext
    // Accesses never overlap here, and run-time exclusivity checks would take a tenth of the encoding time.
    @exclusivity(unchecked) var writer: CBORWriter
    @exclusivity(unchecked) var fields: [Field] = []
    /// The serial number of the frame that may write now.
    @exclusivity(unchecked) var active = 0
    @exclusivity(unchecked) private var spare: [UInt8] = []

    init(context: EncodingContext, capacity: Int) {
        self.context = context
        writer = CBORWriter(capacity: capacity)
    }

    var position: Int { writer.bytes.count }

    func discard(from position: Int, fields count: Int) {
        writer.bytes.removeSubrange(position...)
        fields.removeSubrange(count...)
    }

    // MARK: Finishing

    /// Writes the header of an array, for which one byte was reserved.
    func finishArray(at start: Int, count: Int, deferred: [EncodingFrame.Deferred]) throws {
        if count < 24, deferred.isEmpty {
            writer.bytes[start] = 0x80 | UInt8(count)
            return
        }
        var ordered = CBORWriter(appendingTo: emptySpare())
        ordered.arrayHeader(count)
        var position = start + 1
        for late in deferred {
            copy(position..<late.position, to: &ordered)
            ordered.bytes += try late.frame.finishedBytes()
            position = late.position
        }
        copy(position..<self.position, to: &ordered)
        replace(from: start, with: ordered.bytes)
    }

    /// Sorts the fields of a map and writes its header.
    func finishMap(at start: Int, fields first: Int, deferred: [EncodingFrame.Deferred]) throws {
        let isOrdered = deferred.isEmpty && sortFields(from: first)
        let count = fields.count - first
        if isOrdered, count < 24 {
            writer.bytes[start] = 0xa0 | UInt8(count)
        } else {
            if !deferred.isEmpty { _ = sortFields(from: first) }
            replace(from: start, with: try ordered(fields[first...], deferred))
        }
        fields.removeSubrange(first...)
    }

    private func emptySpare() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &spare)
        bytes.removeAll(keepingCapacity: true)
        return bytes
    }

    private func replace(from start: Int, with bytes: [UInt8]) {
        if start == 0 {
            // For the whole document, the bytes can be swapped without copying.
            spare = writer.bytes
            writer.bytes = bytes
            return
        }
        writer.bytes.removeSubrange(start...)
        writer.bytes.append(contentsOf: bytes)
        spare = bytes
    }

    /// Returns the encoding of a map of sorted fields; of equal names, the last wins.
    private func ordered(
        _ fields: ArraySlice<Field>,
        _ deferred: [EncodingFrame.Deferred]
    ) throws -> [UInt8] {
        var ordered = CBORWriter(appendingTo: emptySpare())
        try writer.bytes.withUnsafeBytes { bytes in
            var count = 0
            for index in fields.indices where Self.isLast(index, of: fields, in: bytes) {
                count += 1
            }
            ordered.mapHeader(count)
            for index in fields.indices where Self.isLast(index, of: fields, in: bytes) {
                let field = fields[index]
                let end = field.end < 0 ? field.value : field.end
                let part = UnsafeRawBufferPointer(rebasing: bytes[field.start..<end])
                ordered.bytes.append(contentsOf: part)
                if field.end < 0 { ordered.bytes += try deferred[~field.end].frame.finishedBytes() }
            }
        }
        return ordered.bytes
    }

    @inline(__always)
    private static func isLast(
        _ index: Int,
        of fields: ArraySlice<Field>,
        in bytes: UnsafeRawBufferPointer
    ) -> Bool {
        let next = index + 1
        return next == fields.endIndex || compare(fields[index], fields[next], in: bytes) != 0
    }

    private func copy(_ range: Range<Int>, to target: inout CBORWriter) {
        writer.bytes.withUnsafeBufferPointer { bytes in
            target.bytes.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Sorts the fields by name, stably.
    ///
    /// - Returns: Whether the fields are known to have been sorted and distinct already.
    private func sortFields(from first: Int) -> Bool {
        writer.bytes.withUnsafeBytes { bytes in
            var isOrdered = true
            let count = fields.count
            guard count - first <= 48 else {
                fields[first...].sort { left, right in
                    let order = Self.compare(left, right, in: bytes)
                    return order == 0 ? left.start < right.start : order < 0
                }
                return false
            }
            // For few fields, mostly distinguished by the length of their names, insertion sort is fastest.
            fields.withUnsafeMutableBufferPointer { fields in
                var index = first + 1
                while index < count {
                    let field = fields[index]
                    var place = index
                    while place > first {
                        let order = Self.compare(fields[place - 1], field, in: bytes)
                        if order >= 0 { isOrdered = false }
                        guard order > 0 else { break }
                        fields[place] = fields[place - 1]
                        place -= 1
                    }
                    fields[place] = field
                    index += 1
                }
            }
            return isOrdered
        }
    }

    /// Compares names by length, then by bytes.
    @inline(__always)
    private static func compare(
        _ left: Field,
        _ right: Field,
        in bytes: UnsafeRawBufferPointer
    ) -> Int {
        let length = left.value - left.start
        let difference = length - (right.value - right.start)
        guard difference == 0 else { return difference }
        for offset in 0..<length {
            let difference = Int(bytes[left.start + offset]) - Int(bytes[right.start + offset])
            if difference != 0 { return difference }
        }
        return 0
    }
}
