import KeelCore
import KeelStorage
import KeelStorageFirestore

extension LogExport {
    /// Decodes the binary form (OTLP/HTTP); ignores unknown fields.
    ///
    /// - Throws: `invalidArgument` if the message is malformed, `tooLarge` if it exceeds a limit.
    init(
        protobuf bytes: [UInt8],
        mostValues: Int,
        makeID: () -> String
    ) throws(StorageError) {
        var left = mostValues
        try Self.messages(1, in: bytes[...]) { resource throws(StorageError) in
            var attributes = DocumentFields()
            try Self.messages(1, in: resource) { message throws(StorageError) in
                attributes = try Self.fields(1, in: message, depth: 0, &left)
            }
            var source = LogSource(attributes)
            try Self.messages(2, in: resource) { scope throws(StorageError) in
                source.scope = ""
                try Self.messages(1, in: scope) { message throws(StorageError) in
                    try Self.messages(1, in: message) { name in
                        source.scope = String(decoding: name, as: UTF8.self)
                    }
                }
                try Self.messages(2, in: scope) { record throws(StorageError) in
                    try append(Self.record(record, &left), of: source, makeID: makeID)
                }
            }
        }
    }

    private static func record(
        _ bytes: ArraySlice<UInt8>,
        _ left: inout Int
    ) throws(StorageError) -> DocumentFields {
        var fields = DocumentFields()
        var reader = ProtobufReader(bytes)
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (1, .fixed64(let time)): fields["time"] = moment(time)
            case (11, .fixed64(let time)): fields["observedTime"] = moment(time)
            case (2, .varint(let number)):
                fields["severity"] = .integer(Int64(truncatingIfNeeded: number))
            case (3, .data(let text)): fields["severityText"] = string(text)
            case (5, .data(let body)): fields["body"] = try self.value(body, depth: 0, &left)
            case (9, .data(let id)): fields["traceId"] = hexadecimal(id)
            case (10, .data(let id)): fields["spanId"] = hexadecimal(id)
            case (12, .data(let name)): fields["eventName"] = string(name)
            default: continue
            }
        }
        guard !reader.isDamaged else { throw damaged }
        let attributes = try self.fields(6, in: bytes, depth: 0, &left)
        if !attributes.isEmpty { fields["attributes"] = .map(attributes) }
        return fields
    }

    /// Decodes the `KeyValue`s of a field.
    private static func fields(
        _ field: Int,
        in bytes: ArraySlice<UInt8>,
        depth: Int,
        _ left: inout Int
    ) throws(StorageError) -> DocumentFields {
        var fields: [(String, DocumentValue)] = []
        try messages(field, in: bytes) { pair throws(StorageError) in
            try count(&left)
            var (key, value) = ("", DocumentValue.null)
            try messages(1, in: pair) { key = String(decoding: $0, as: UTF8.self) }
            try messages(2, in: pair) { message throws(StorageError) in
                value = try self.value(message, depth: depth, &left)
            }
            if !key.isEmpty { fields.append((key, value)) }
        }
        return DocumentFields(fields)
    }

    private static func value(
        _ bytes: ArraySlice<UInt8>,
        depth: Int,
        _ left: inout Int
    ) throws(StorageError) -> DocumentValue {
        guard depth < deepest else { throw tooDeep }
        try count(&left)
        var reader = ProtobufReader(bytes)
        var found = DocumentValue.null
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (1, .data(let text)): found = .string(String(decoding: text, as: UTF8.self))
            case (2, .varint(let flag)): found = .boolean(flag != 0)
            case (3, .varint(let number)): found = .integer(Int64(bitPattern: number))
            case (4, .fixed64(let bits)): found = .double(Double(bitPattern: bits))
            case (5, .data(let list)):
                var values: [DocumentValue] = []
                try messages(1, in: list) { element throws(StorageError) in
                    values.append(try self.value(element, depth: depth + 1, &left))
                }
                found = .array(values)
            case (6, .data(let map)):
                found = .map(try fields(1, in: map, depth: depth + 1, &left))
            case (7, .data(let bytes)): found = .bytes(Array(bytes))
            default: continue
            }
        }
        guard !reader.isDamaged else { throw damaged }
        return found
    }

    // MARK: Parts

    /// Counts a value, of which the shortest take two bytes here and much more in memory.
    private static func count(_ left: inout Int) throws(StorageError) {
        guard left > 0 else {
            throw StorageError(.tooLarge, "the request has too many values; send fewer at a time")
        }
        left -= 1
    }

    /// Calls a closure with each length-delimited value of a field.
    private static func messages(
        _ field: Int,
        in bytes: ArraySlice<UInt8>,
        _ visit: (ArraySlice<UInt8>) throws(StorageError) -> Void
    ) throws(StorageError) {
        var reader = ProtobufReader(bytes)
        while let (number, value) = reader.next() {
            guard number == field, case .data(let data) = value else { continue }
            try visit(data)
        }
        guard !reader.isDamaged else { throw damaged }
    }

    private static func string(_ bytes: ArraySlice<UInt8>) -> DocumentValue? {
        bytes.isEmpty ? nil : .string(String(decoding: bytes, as: UTF8.self))
    }

    private static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> DocumentValue? {
        bytes.isEmpty ? nil : .string(Hexadecimal.text(of: bytes))
    }

    private static let damaged = FirestoreDecoding.flaw(
        "the body is not a protobuf ExportLogsServiceRequest"
    )
}
