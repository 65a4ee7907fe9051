internal import KeelCore
import KeelStorage
import KeelStorageFirestore

extension LogExport {
    /// Decodes the JSON form (OTLP/HTTP: proto3's mapping with hexadecimal ids).
    ///
    /// - Throws: `invalidArgument` if the message is malformed, `tooLarge` if it exceeds a limit.
    init(_ json: FirestoreJSON, makeID: () -> String) throws(StorageError) {
        for resource in try json.list("resourceLogs") {
            var source = LogSource(try Self.attributes(of: resource.object("resource")))
            for scope in try resource.list("scopeLogs") {
                source.scope = try scope.object("scope")?.text("name") ?? ""
                for record in try scope.list("logRecords") {
                    try append(Self.fields(of: record), of: source, makeID: makeID)
                }
            }
        }
    }

    private static func fields(of record: FirestoreJSON) throws(StorageError) -> DocumentFields {
        var fields = DocumentFields()
        fields["time"] = try moment("timeUnixNano", of: record)
        fields["observedTime"] = try moment("observedTimeUnixNano", of: record)
        fields["severity"] = try record.wholeNumber("severityNumber").map(DocumentValue.integer)
        for name in ["severityText", "traceId", "spanId", "eventName"] {
            guard let text = try record.text(name), !text.isEmpty else { continue }
            fields[name] = .string(text)
        }
        if let body = try record.object("body") { fields["body"] = try value(body, depth: 0) }
        let attributes = try attributes(of: record)
        if !attributes.isEmpty { fields["attributes"] = .map(attributes) }
        return fields
    }

    private static func moment(
        _ name: String,
        of record: FirestoreJSON
    ) throws(StorageError) -> DocumentValue? {
        guard let json = record.member(name) else { return nil }
        let number = json.wholeNumber.flatMap { UInt64(exactly: $0) }
        guard let nanoseconds = json.text.flatMap({ UInt64($0) }) ?? number else {
            throw FirestoreDecoding.flaw("“\(name)” is not a number of nanoseconds")
        }
        return moment(nanoseconds)
    }

    private static func attributes(of json: FirestoreJSON?) throws(StorageError) -> DocumentFields {
        guard let json else { return DocumentFields() }
        return try fields(of: json.list("attributes"), depth: 0)
    }

    private static func fields(
        of pairs: [FirestoreJSON],
        depth: Int
    ) throws(StorageError) -> DocumentFields {
        var fields: [(String, DocumentValue)] = []
        for pair in pairs {
            guard let key = try pair.text("key"), let value = try pair.object("value") else {
                continue
            }
            fields.append((key, try self.value(value, depth: depth)))
        }
        return DocumentFields(fields)
    }

    /// Decodes an `AnyValue`; null if it has no member.
    private static func value(
        _ json: FirestoreJSON,
        depth: Int
    ) throws(StorageError) -> DocumentValue {
        guard depth < deepest else { throw tooDeep }
        if let text = try json.text("stringValue") { return .string(text) }
        if let flag = try json.flag("boolValue") { return .boolean(flag) }
        if let number = try json.wholeNumber("intValue") { return .integer(number) }
        if let number = json.member("doubleValue")?.anyNumber { return .double(number) }
        if let list = try json.object("arrayValue") {
            var values: [DocumentValue] = []
            for element in try list.list("values") {
                values.append(try value(element, depth: depth + 1))
            }
            return .array(values)
        }
        if let map = try json.object("kvlistValue") {
            return .map(try fields(of: try map.list("values"), depth: depth + 1))
        }
        if let text = try json.text("bytesValue") {
            guard let bytes = Base64.decode(text) else {
                throw FirestoreDecoding.flaw("“bytesValue” is not valid base64")
            }
            return .bytes(bytes)
        }
        return .null
    }

    /// The nesting limit of values.
    static let deepest = 16

    static let tooDeep = FirestoreDecoding.flaw("a value nests more than \(deepest) levels deep")
}
