internal import KeelCore
internal import KeelStorageAdapting

struct ProtobufDecoder {
    typealias Failure = FirestoreProtobufError
    typealias Kind = ProtobufSchema.Kind

    var valuesLeft: Int

    /// The values read so far for a field.
    ///
    /// As required by the encoding, the last one of several scalars counts, and several messages are merged. They are
    /// decoded only once they are complete, so that the time stays proportional to the number of bytes.
    private struct Slot {
        let field: ProtobufSchema.Field
        var value: FirestoreJSON?
        var data: ArraySlice<UInt8>?
        var joined: [UInt8] = []
        var list: [FirestoreJSON] = []
        var members: [FirestoreJSON.Member] = []
    }

    mutating func object(
        _ bytes: ArraySlice<UInt8>,
        _ message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> FirestoreJSON {
        guard levels > 0 else { throw Failure(reason: .tooDeep, message: message.name) }
        try count(in: message)
        var slots: [Slot] = []
        var reader = ProtobufReader(bytes)
        while let (number, wire) = reader.next() {
            guard let field = message.field(number) else { continue }
            do throws(Failure) {
                try read(wire, of: field, in: message, into: &slots, levels: levels - 1)
            } catch {
                throw error.field == nil && error.message == message.name
                    ? Failure(reason: error.reason, message: message.name, field: field.name)
                    : error
            }
        }
        guard !reader.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
        var members: [FirestoreJSON.Member] = []
        members.reserveCapacity(slots.count)
        for slot in slots {
            guard let value = try value(of: slot, levels: levels - 1) else { continue }
            members.append(FirestoreJSON.Member(slot.field.name, value))
        }
        return .object(members)
    }

    private mutating func count(in message: ProtobufSchema.Message) throws(Failure) {
        guard valuesLeft > 0 else { throw Failure(reason: .tooMany, message: message.name) }
        valuesLeft -= 1
    }

    private mutating func read(
        _ wire: ProtobufReader.Value,
        of field: ProtobufSchema.Field,
        in message: ProtobufSchema.Message,
        into slots: inout [Slot],
        levels: Int
    ) throws(Failure) {
        if field.isRepeated {
            let elements = try elements(wire, of: field, in: message, levels: levels)
            guard !elements.isEmpty else { return }
            let position = position(of: field, in: &slots)
            slots[position].list += elements
        } else if case .map(let kind) = field.kind {
            guard case .data(let entry) = wire else { return }
            let member = try member(entry, kind, in: message, levels: levels)
            let position = position(of: field, in: &slots)
            slots[position].members.append(member)
        } else if case .message = field.kind {
            guard case .data(let data) = wire else { return }
            let position = position(of: field, in: &slots)
            if let first = slots[position].data {
                if slots[position].joined.isEmpty { slots[position].joined = Array(first) }
                slots[position].joined += data
            } else {
                slots[position].data = data
            }
        } else if let value = try value(wire, field.kind, in: message, levels: levels) {
            let position = position(of: field, in: &slots)
            slots[position].value = value
        }
    }

    /// Returns the position of a field's slot; other fields of the same choice lose theirs.
    private func position(of field: ProtobufSchema.Field, in slots: inout [Slot]) -> Int {
        if let position = slots.firstIndex(where: { $0.field.number == field.number }) {
            return position
        }
        if let choice = field.choice { slots.removeAll { $0.field.choice == choice } }
        slots.append(Slot(field: field))
        return slots.count - 1
    }

    private mutating func value(of slot: Slot, levels: Int) throws(Failure) -> FirestoreJSON? {
        if slot.field.isRepeated { return .array(slot.list) }
        switch slot.field.kind {
        case .map: return .object(slot.members)
        case .message(let index):
            guard let data = slot.joined.isEmpty ? slot.data : slot.joined[...] else { return nil }
            let message = ProtobufSchema.firestore.messages[index]
            return try object(data, message, levels: levels)
        default: return slot.value
        }
    }

    /// Converts one value of a repeated field, or several if they are packed.
    private mutating func elements(
        _ wire: ProtobufReader.Value,
        of field: ProtobufSchema.Field,
        in message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> [FirestoreJSON] {
        switch (field.kind, wire) {
        case (.boolean, .data(let data)), (.int32, .data(let data)), (.int64, .data(let data)),
            (.enumeration, .data(let data)):
            var packed = ProtobufReader(data)
            var elements: [FirestoreJSON] = []
            while !packed.rest.isEmpty {
                guard let number = packed.varint() else {
                    throw Failure(reason: .malformed, message: message.name)
                }
                let value = try value(.varint(number), field.kind, in: message, levels: levels)
                if let value { elements.append(value) }
            }
            return elements
        case (.message(let index), .data(let data)):
            let message = ProtobufSchema.firestore.messages[index]
            return [try object(data, message, levels: levels)]
        default:
            return try value(wire, field.kind, in: message, levels: levels).map { [$0] } ?? []
        }
    }

    private mutating func member(
        _ entry: ArraySlice<UInt8>,
        _ kind: Kind,
        in message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> FirestoreJSON.Member {
        var name = ""
        var text: FirestoreJSON = ""
        var data = ArraySlice<UInt8>()
        var reader = ProtobufReader(entry)
        while let (number, wire) = reader.next() {
            switch (number, wire) {
            case (1, .data(let bytes)): name = try self.text(bytes, in: message)
            case (2, .data(let bytes)):
                guard case .message = kind else {
                    text = .string(try self.text(bytes, in: message))
                    continue
                }
                data = bytes
            default: continue
            }
        }
        guard !reader.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
        guard case .message(let index) = kind else {
            try count(in: message)
            return FirestoreJSON.Member(name, text)
        }
        let value = ProtobufSchema.firestore.messages[index]
        return FirestoreJSON.Member(name, try object(data, value, levels: levels - 1))
    }

    /// Converts a value other than a message; nil if the wire type is not that of the kind.
    private mutating func value(
        _ wire: ProtobufReader.Value,
        _ kind: Kind,
        in message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> FirestoreJSON? {
        try count(in: message)
        switch (kind, wire) {
        case (.boolean, .varint(let bits)): return .boolean(bits != 0)
        case (.int32, .varint(let bits)):
            return .integer(Int64(Int32(truncatingIfNeeded: bits)))
        case (.int64, .varint(let bits)): return .string("\(Int64(bitPattern: bits))")
        case (.null, .varint): return .null
        case (.enumeration(let index), .varint(let bits)):
            let number = Int32(truncatingIfNeeded: bits)
            let name = ProtobufSchema.firestore.enumerations[index].names[number]
            return name.map(FirestoreJSON.string) ?? .integer(Int64(number))
        case (.double, .fixed64(let bits)): return FirestoreJSON.double(Double(bitPattern: bits))
        case (.string, .data(let data)): return .string(try text(data, in: message))
        case (.bytes, .data(let data)): return .string(Base64.encode(Array(data)))
        case (.timestamp, .data(let data)): return try time(data, in: message)
        case (.duration, .data(let data)): return try duration(data, in: message)
        case (.wrapper(let kind), .data(let data)):
            return try wrapped(data, kind, in: message, levels: levels)
        case (.anyObject, .data(let data)): return try anyObject(data, in: message, levels: levels)
        case (.anyMessage, .data(let data)):
            return try anyMessage(data, in: message, levels: levels)
        default: return nil
        }
    }
}

// MARK: Types with a form of their own

extension ProtobufDecoder {
    private func text(
        _ bytes: ArraySlice<UInt8>,
        in message: ProtobufSchema.Message
    ) throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(reason: .badUTF8, message: message.name)
        }
        return text
    }

    private func moment(
        _ bytes: ArraySlice<UInt8>,
        in message: ProtobufSchema.Message
    ) throws(Failure) -> (seconds: Int64, nanoseconds: Int32) {
        var moment: (seconds: Int64, nanoseconds: Int32) = (0, 0)
        var reader = ProtobufReader(bytes)
        while let (number, wire) = reader.next() {
            switch (number, wire) {
            case (1, .varint(let bits)): moment.seconds = Int64(bitPattern: bits)
            case (2, .varint(let bits)): moment.nanoseconds = Int32(truncatingIfNeeded: bits)
            default: continue
            }
        }
        guard !reader.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
        return moment
    }

    private func time(
        _ bytes: ArraySlice<UInt8>,
        in message: ProtobufSchema.Message
    ) throws(Failure) -> FirestoreJSON {
        let (seconds, nanoseconds) = try moment(bytes, in: message)
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflow) = product.addingReportingOverflow(Int64(nanoseconds) / 1_000)
        guard (0..<1_000_000_000).contains(nanoseconds), !isTooLarge, !overflow else {
            throw Failure(reason: .badTime, message: message.name)
        }
        return .string(FirestoreTime.text(of: Timestamp(microseconds: sum)))
    }

    private func duration(
        _ bytes: ArraySlice<UInt8>,
        in message: ProtobufSchema.Message
    ) throws(Failure) -> FirestoreJSON {
        let (seconds, nanoseconds) = try moment(bytes, in: message)
        guard nanoseconds.magnitude < 1_000_000_000,
            seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0),
            seconds.magnitude < 1_000_000_000_000
        else { throw Failure(reason: .badTime, message: message.name) }
        // Like Google's libraries, with zero, three, six or nine decimals.
        let digits = "\(1_000_000_000 + nanoseconds.magnitude)".utf8.dropFirst()
        let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        let decimals = zeros == 9 ? "" : ".\(Substring(digits.dropLast(zeros / 3 * 3)))"
        let sign = seconds < 0 || nanoseconds < 0 ? "-" : ""
        return .string("\(sign)\(seconds.magnitude)\(decimals)s")
    }

    private mutating func wrapped(
        _ bytes: ArraySlice<UInt8>,
        _ kind: Kind,
        in message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> FirestoreJSON {
        var found: FirestoreJSON =
            switch kind {
            case .int64: "0"
            case .double: .number(0)
            default: .integer(0)
            }
        var reader = ProtobufReader(bytes)
        while let (number, wire) = reader.next() {
            guard number == 1 else { continue }
            found = try value(wire, kind, in: message, levels: levels) ?? found
        }
        guard !reader.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
        return found
    }

    /// Converts `google.protobuf.Struct`, whose only field is a map of values.
    private mutating func anyObject(
        _ bytes: ArraySlice<UInt8>,
        in message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> FirestoreJSON {
        guard levels > 0 else { throw Failure(reason: .tooDeep, message: message.name) }
        var members: [FirestoreJSON.Member] = []
        var reader = ProtobufReader(bytes)
        while let (number, wire) = reader.next() {
            guard number == 1, case .data(let entry) = wire else { continue }
            var name = ""
            var value = FirestoreJSON.null
            var parts = ProtobufReader(entry)
            while let (number, wire) = parts.next() {
                guard case .data(let data) = wire else { continue }
                if number == 1 { name = try text(data, in: message) }
                if number == 2 { value = try anyValue(data, in: message, levels: levels - 1) }
            }
            guard !parts.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
            members.append(FirestoreJSON.Member(name, value))
        }
        guard !reader.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
        return .object(members)
    }

    /// Converts `google.protobuf.Value`.
    private mutating func anyValue(
        _ bytes: ArraySlice<UInt8>,
        in message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> FirestoreJSON {
        guard levels > 0 else { throw Failure(reason: .tooDeep, message: message.name) }
        try count(in: message)
        var found = FirestoreJSON.null
        var reader = ProtobufReader(bytes)
        while let (number, wire) = reader.next() {
            switch (number, wire) {
            case (1, .varint): found = .null
            case (2, .fixed64(let bits)): found = .double(Double(bitPattern: bits))
            case (3, .data(let data)): found = .string(try text(data, in: message))
            case (4, .varint(let bits)): found = .boolean(bits != 0)
            case (5, .data(let data)):
                found = try anyObject(data, in: message, levels: levels - 1)
            case (6, .data(let data)):
                var elements: [FirestoreJSON] = []
                var list = ProtobufReader(data)
                while let (number, wire) = list.next() {
                    guard number == 1, case .data(let data) = wire else { continue }
                    elements.append(try anyValue(data, in: message, levels: levels - 1))
                }
                guard !list.isDamaged else {
                    throw Failure(reason: .malformed, message: message.name)
                }
                found = .array(elements)
            default: continue
            }
        }
        guard !reader.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
        return found
    }

    /// Converts `google.protobuf.Any`; of a message of an unknown type only the type's name.
    private mutating func anyMessage(
        _ bytes: ArraySlice<UInt8>,
        in message: ProtobufSchema.Message,
        levels: Int
    ) throws(Failure) -> FirestoreJSON {
        var type = ""
        var content = ArraySlice<UInt8>()
        var reader = ProtobufReader(bytes)
        while let (number, wire) = reader.next() {
            guard case .data(let data) = wire else { continue }
            if number == 1 { type = try text(data, in: message) }
            if number == 2 { content = data }
        }
        guard !reader.isDamaged else { throw Failure(reason: .malformed, message: message.name) }
        let name = FirestoreJSON.Member("@type", .string(type))
        guard let known = ProtobufSchema.firestore.message(of: type) else { return .object([name]) }
        let object = try object(content, known, levels: levels)
        return .object([name] + (object.members ?? []))
    }
}

extension ProtobufSchema {
    func message(of type: String) -> Message? {
        let name = type[(type.lastIndex(of: "/").map(type.index(after:)) ?? type.startIndex)...]
        let package = "google.firestore.v1."
        return message(named: name.hasPrefix(package) ? name.dropFirst(package.count) : name)
    }
}
