#if Logging

internal import KeelCore
internal import KeelLogging
internal import Logging

extension StoredLogRecord {
    /// The logged record; nil if the message is not one that Keel writes.
    var record: LogRecord? {
        typealias Fields = OTLPFields.LogRecord
        var record = LogRecord(
            time: 0,
            level: .info,
            label: label,
            message: "",
            source: "",
            file: "",
            function: "",
            line: 0
        )
        var fields = ProtobufReader(message)
        while let (number, value) = fields.next() {
            switch (number, value) {
            case (Fields.timeUnixNano, .fixed64(let time)):
                record.time = Int64(clamping: time / 1000)
            case (Fields.severityText, .data(let text)):
                guard let level = Logger.Level(rawValue: Self.text(text)) else { return nil }
                record.level = level
            case (Fields.body, .data(let body)):
                guard case .text(let text)? = LogValue(anyValue: body) else { return nil }
                record.message = text
            case (Fields.attributes, .data(let pair)):
                guard let field = LogField(keyValue: pair) else { return nil }
                record.take(field)
            case (Fields.traceID, .data(let id)):
                record.fields.append(LogField("trace_id", .text(Hexadecimal.text(of: id))))
            case (Fields.spanID, .data(let id)):
                record.fields.append(LogField("span_id", .text(Hexadecimal.text(of: id))))
            default: continue
            }
        }
        guard !fields.isDamaged else { return nil }
        record.source = String(record.file.prefix { $0 != "/" })
        record.fields.sort { $0.name < $1.name }
        return record
    }

    fileprivate static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension LogRecord {
    fileprivate mutating func take(_ field: LogField) {
        switch (field.name, field.value) {
        case ("log.record.uid", _): break
        case ("code.file.path", .text(let path)): file = path
        case ("code.function.name", .text(let name)): function = name
        case ("code.line.number", .text(let number)): line = UInt(number) ?? 0
        default: fields.append(field)
        }
    }
}

extension LogField {
    fileprivate init?(keyValue bytes: ArraySlice<UInt8>) {
        var (name, found) = ("", LogValue?.none)
        var fields = ProtobufReader(bytes)
        while let (number, value) = fields.next() {
            switch (number, value) {
            case (OTLPFields.KeyValue.key, .data(let key)): name = StoredLogRecord.text(key)
            case (OTLPFields.KeyValue.value, .data(let value)): found = LogValue(anyValue: value)
            default: continue
            }
        }
        guard !fields.isDamaged, let found else { return nil }
        self.init(name, found)
    }
}

extension LogValue {
    fileprivate init?(anyValue bytes: ArraySlice<UInt8>) {
        var fields = ProtobufReader(bytes)
        guard let (number, value) = fields.next(), fields.next() == nil, !fields.isDamaged else {
            return nil
        }
        switch (number, value) {
        case (OTLPFields.AnyValue.string, .data(let text)):
            self = .text(StoredLogRecord.text(text))
        case (OTLPFields.AnyValue.integer, .varint(let number)):
            self = .text("\(Int64(bitPattern: number))")
        case (OTLPFields.AnyValue.array, .data(let list)):
            var values: [LogValue] = []
            var elements = ProtobufReader(list)
            while let (_, element) = elements.next() {
                guard case .data(let bytes) = element, let value = LogValue(anyValue: bytes) else {
                    return nil
                }
                values.append(value)
            }
            self = .list(values)
        case (OTLPFields.AnyValue.map, .data(let map)):
            var values: [LogField] = []
            var pairs = ProtobufReader(map)
            while let (_, pair) = pairs.next() {
                guard case .data(let bytes) = pair, let field = LogField(keyValue: bytes) else {
                    return nil
                }
                values.append(field)
            }
            self = .map(values)
        default: return nil
        }
    }
}

#endif
