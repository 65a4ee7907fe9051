internal import KeelCore

/// What all parts of one encoding share.
final class EncodingContext {
    let keys: DocumentKeyStrategy
    let userInfo: [CodingUserInfoKey: Any]
    /// The fields that the store is to compute.
    var transforms: [FieldTransform] = []
    /// What a ``DocumentID`` of the outermost value holds.
    var documentID: String?
    private var names: [String: String] = [:]
    private var lastSerial = 0

    init(keys: DocumentKeyStrategy, userInfo: [CodingUserInfoKey: Any]) {
        self.keys = keys
        self.userInfo = userInfo
    }

    func fieldName(_ key: String) -> String {
        if let name = names[key] { return name }
        let name = keys.fieldName(key)
        names[key] = name
        return name
    }

    func nextSerial() -> Int {
        lastSerial += 1
        return lastSerial
    }
}

/// A buffer that encoded items are appended to.
///
/// Containers are asked for fields in the order of the program, but a map is stored in the order of
/// its names. So each map collects its fields where they fall, as ``Field`` on a stack, and is put
/// in order when it ends. Maps within maps end first, so that both the bytes and the fields of one
/// map always lie at the end.
final class EncodingSink {
    /// A field of an unfinished map, as positions in the bytes.
    struct Field {
        /// Where the name begins.
        var start: Int
        /// Where the name ends and the value begins.
        var value: Int
        /// Where the value ends; negative when a frame of its own holds it, as `~index`.
        var end: Int
    }

    let context: EncodingContext
    var writer: CBORWriter
    var fields: [Field] = []
    /// The serial number of the frame that may write now.
    var active = 0
    private var spare: [UInt8] = []

    init(context: EncodingContext, capacity: Int) {
        self.context = context
        writer = CBORWriter(capacity: capacity)
    }

    var position: Int { writer.bytes.count }

    /// Forgets what was written from here on.
    func discard(from position: Int, fields count: Int) {
        writer.bytes.removeSubrange(position...)
        fields.removeSubrange(count...)
    }

    // MARK: Finishing

    /// Puts the header in front of an array whose elements begin after one byte kept for it.
    func finishArray(at start: Int, count: Int, deferred: [EncodingFrame.Deferred]) throws {
        if count < 24, deferred.isEmpty {
            writer.bytes[start] = 0x80 | UInt8(count)
            return
        }
        var ordered = CBORWriter(appendingTo: emptySpare())
        ordered.arrayHeader(count)
        var position = start + 1
        for late in deferred {
            ordered.append(raw: writer.bytes[position..<late.position])
            ordered.append(raw: try late.frame.finishedBytes())
            position = late.position
        }
        ordered.append(raw: writer.bytes[position...])
        replace(from: start, with: ordered.bytes)
    }

    /// Sorts the fields of a map and puts the header in front of them.
    func finishMap(at start: Int, fields first: Int, deferred: [EncodingFrame.Deferred]) throws {
        let isOrdered = deferred.isEmpty && sortFields(from: first)
        let count = fields.count - first
        if isOrdered, count < 24 {
            writer.bytes[start] = 0xa0 | UInt8(count)
        } else {
            if !deferred.isEmpty { _ = sortFields(from: first) }
            var ordered = CBORWriter(appendingTo: emptySpare())
            var kept = 0
            for index in first..<fields.count where isLast(index) { kept += 1 }
            ordered.mapHeader(kept)
            for index in first..<fields.count where isLast(index) {
                let field = fields[index]
                if field.end < 0 {
                    ordered.append(raw: writer.bytes[field.start..<field.value])
                    ordered.append(raw: try deferred[~field.end].frame.finishedBytes())
                } else {
                    ordered.append(raw: writer.bytes[field.start..<field.end])
                }
            }
            replace(from: start, with: ordered.bytes)
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
        writer.bytes.removeSubrange(start...)
        writer.bytes.append(contentsOf: bytes)
        spare = bytes
    }

    /// Whether a field is the last of its name, which is the one that counts.
    private func isLast(_ index: Int) -> Bool {
        guard index + 1 < fields.count else { return true }
        let (one, next) = (fields[index], fields[index + 1])
        return writer.bytes[one.start..<one.value] != writer.bytes[next.start..<next.value]
    }

    /// Sorts the fields by name, keeping the order of equal ones.
    ///
    /// - Returns: Whether they were sorted and all different before.
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
            // Few fields, mostly told apart by the length of their names: insertion is quickest.
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

    /// Compares names by length, then bytes; negative when the left comes first.
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
