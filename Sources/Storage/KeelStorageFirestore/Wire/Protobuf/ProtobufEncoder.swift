internal import KeelCore
internal import KeelStorageAdapting

enum ProtobufEncoder {
    typealias Failure = FirestoreProtobufError

    static func write(
        _ json: FirestoreJSON,
        _ message: ProtobufSchema.Message,
        to writer: inout ProtobufWriter
    ) throws(Failure) {
        guard let members = json.members else {
            throw Failure(reason: .badValue, message: message.name)
        }
        for member in members {
            guard let field = message.field(named: member.name),
                member.value != .null || field.kind == .null
            else { continue }
            do throws(Failure) {
                try write(member.value, field, in: message, to: &writer)
            } catch {
                throw error.field == nil && error.message == message.name
                    ? Failure(reason: error.reason, message: message.name, field: field.name)
                    : error
            }
        }
    }

    private static func write(
        _ json: FirestoreJSON,
        _ field: ProtobufSchema.Field,
        in message: ProtobufSchema.Message,
        to writer: inout ProtobufWriter
    ) throws(Failure) {
        let flaw = Failure(reason: .badValue, message: message.name)
        if field.isRepeated {
            guard let elements = json.elements else { throw flaw }
            guard !elements.isEmpty else { return }
            switch field.kind {
            case .boolean, .int32, .int64, .enumeration:
                try writer.message(field.number) { (writer: inout ProtobufWriter) throws(Failure) in
                    for element in elements {
                        guard let bits = bits(element, field.kind) else { throw flaw }
                        writer.varint(bits)
                    }
                }
            default:
                for element in elements {
                    try write(element, field.kind, field.number, in: message, to: &writer)
                }
            }
        } else if case .map(let kind) = field.kind {
            guard let members = json.members else { throw flaw }
            for member in members {
                try writer.message(field.number) { (writer: inout ProtobufWriter) throws(Failure) in
                    writer.string(1, member.name)
                    try write(member.value, kind, 2, in: message, to: &writer)
                }
            }
        } else {
            try write(json, field.kind, field.number, in: message, to: &writer)
        }
    }

    /// Writes one value, even if it is the default of its type.
    private static func write(
        _ json: FirestoreJSON,
        _ kind: ProtobufSchema.Kind,
        _ number: Int,
        in message: ProtobufSchema.Message,
        to writer: inout ProtobufWriter
    ) throws(Failure) {
        let flaw = Failure(reason: .badValue, message: message.name)
        switch kind {
        case .boolean, .int32, .int64, .null, .enumeration:
            guard let bits = bits(json, kind) else { throw flaw }
            writer.present(number, bits)
        case .double:
            guard let value = json.anyNumber else { throw flaw }
            writer.presentFixed64(number, value.bitPattern)
        case .string:
            guard let text = json.text else { throw flaw }
            writer.present(number, text)
        case .bytes:
            guard let bytes = json.text.flatMap(Base64.decode) else { throw flaw }
            writer.present(number, bytes)
        case .timestamp:
            guard let time = json.text.flatMap(FirestoreTime.time) else { throw flaw }
            let (quotient, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
            writer.message(number) {
                $0.varint(1, UInt64(bitPattern: rest < 0 ? quotient - 1 : quotient))
                $0.varint(2, UInt64((rest < 0 ? rest + 1_000_000 : rest) * 1_000))
            }
        case .duration:
            guard let (seconds, nanoseconds) = json.text.flatMap(duration) else { throw flaw }
            writer.message(number) {
                $0.varint(1, UInt64(bitPattern: seconds))
                $0.varint(2, UInt64(bitPattern: nanoseconds))
            }
        case .wrapper(let kind):
            try writer.message(number) { (writer: inout ProtobufWriter) throws(Failure) in
                try write(json, kind, 1, in: message, to: &writer)
            }
        case .message(let index):
            let inner = ProtobufSchema.firestore.messages[index]
            try writer.message(number) { (writer: inout ProtobufWriter) throws(Failure) in
                try write(json, inner, to: &writer)
            }
        case .anyObject:
            guard let members = json.members else { throw flaw }
            writer.message(number) { write(anyObject: members, to: &$0) }
        case .anyMessage:
            guard let type = json["@type"]?.text else { throw flaw }
            try writer.message(number) { (writer: inout ProtobufWriter) throws(Failure) in
                writer.string(1, type)
                guard let known = ProtobufSchema.firestore.message(of: type) else { return }
                try writer.message(2) { (writer: inout ProtobufWriter) throws(Failure) in
                    try write(json, known, to: &writer)
                }
            }
        // The fields of a map are written by the caller, and the schema has no maps in maps.
        case .map: throw flaw
        }
    }

    private static func bits(_ json: FirestoreJSON, _ kind: ProtobufSchema.Kind) -> UInt64? {
        switch kind {
        case .boolean: return json.flag.map { $0 ? 1 : 0 }
        case .null: return json == .null ? 0 : nil
        case .int64: return json.wholeNumber.map { UInt64(bitPattern: $0) }
        case .enumeration(let index):
            if let name = json.text,
                let number = ProtobufSchema.firestore.enumerations[index].numbers[name]
            {
                return UInt64(bitPattern: Int64(number))
            }
            fallthrough
        default:
            return json.wholeNumber.flatMap { Int32(exactly: $0) }
                .map { UInt64(bitPattern: Int64($0)) }
        }
    }

    private static func duration(_ text: String) -> (seconds: Int64, nanoseconds: Int64)? {
        guard text.hasSuffix("s") else { return nil }
        let isNegative = text.hasPrefix("-")
        let parts = text.dropLast().drop { $0 == "-" }
            .split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let seconds = Int64(parts[0]) else { return nil }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            let digits = parts[1].prefix(9)
            guard let number = Int64(digits + String(repeating: "0", count: 9 - digits.count))
            else {
                return nil
            }
            nanoseconds = number
        }
        return isNegative ? (-seconds, -nanoseconds) : (seconds, nanoseconds)
    }

    private static func write(
        anyObject members: [FirestoreJSON.Member],
        to writer: inout ProtobufWriter
    ) {
        for member in members {
            writer.message(1) {
                $0.string(1, member.name)
                $0.message(2) { write(anyValue: member.value, to: &$0) }
            }
        }
    }

    private static func write(anyValue json: FirestoreJSON, to writer: inout ProtobufWriter) {
        switch json {
        case .null: writer.present(1, 0)
        case .integer(let value): writer.presentFixed64(2, Double(value).bitPattern)
        case .number(let value): writer.presentFixed64(2, value.bitPattern)
        case .string(let text): writer.present(3, text)
        case .boolean(let flag): writer.present(4, flag ? 1 : 0)
        case .object(let members): writer.message(5) { write(anyObject: members, to: &$0) }
        case .array(let elements):
            writer.message(6) {
                for element in elements {
                    $0.message(1) { write(anyValue: element, to: &$0) }
                }
            }
        }
    }
}
