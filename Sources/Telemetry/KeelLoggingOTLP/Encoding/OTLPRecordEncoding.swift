#if Logging

internal import KeelCore

internal import KeelLogging
internal import Logging

extension ProtobufWriter {
    /// Writes the fields of a `LogRecord` message; the id is the attribute `log.record.uid`.
    mutating func logRecord(_ record: LogRecord, id: String) {
        typealias Fields = OTLPFields.LogRecord
        let time = UInt64(clamping: record.time).multipliedReportingOverflow(by: 1000).partialValue
        fixed64(Fields.timeUnixNano, time)
        varint(Fields.severityNumber, record.level.severityNumber)
        string(Fields.severityText, record.level.rawValue)
        message(Fields.body) { $0.present(OTLPFields.AnyValue.string, record.message) }
        attribute(Fields.attributes, "log.record.uid", id)
        attribute(Fields.attributes, "code.file.path", record.file)
        attribute(Fields.attributes, "code.function.name", record.function)
        message(Fields.attributes) { pair in
            pair.string(OTLPFields.KeyValue.key, "code.line.number")
            pair.message(OTLPFields.KeyValue.value) {
                $0.present(OTLPFields.AnyValue.integer, UInt64(record.line))
            }
        }
        var trace: [UInt8] = []
        var span: [UInt8] = []
        for field in record.fields {
            if trace.isEmpty, let id = field.identifier(among: Self.traceNames, byteCount: 16) {
                trace = id
            } else if span.isEmpty, let id = field.identifier(among: Self.spanNames, byteCount: 8) {
                span = id
            } else {
                keyValue(Fields.attributes, field)
            }
        }
        data(Fields.traceID, trace)
        data(Fields.spanID, span)
        fixed64(Fields.observedTimeUnixNano, time)
    }

    // The names used by swift-otel, Zipkin's instruments and W3C Trace Context.
    private static let traceNames: [String] = ["trace_id", "trace-id", "traceId", "traceID"]
    private static let spanNames: [String] = ["span_id", "span-id", "spanId", "spanID"]

    mutating func attribute(_ field: Int, _ key: String, _ text: String) {
        message(field) { pair in
            pair.string(OTLPFields.KeyValue.key, key)
            pair.message(OTLPFields.KeyValue.value) {
                $0.present(OTLPFields.AnyValue.string, text)
            }
        }
    }

    private mutating func keyValue(_ number: Int, _ field: LogField) {
        message(number) { pair in
            pair.string(OTLPFields.KeyValue.key, field.name)
            pair.message(OTLPFields.KeyValue.value) { $0.anyValue(field.value) }
        }
    }

    private mutating func anyValue(_ value: LogValue) {
        switch value {
        case .text(let text):
            present(OTLPFields.AnyValue.string, text)
        case .list(let values):
            message(OTLPFields.AnyValue.array) { list in
                for value in values { list.message(OTLPFields.values) { $0.anyValue(value) } }
            }
        case .map(let fields):
            message(OTLPFields.AnyValue.map) { map in
                for field in fields { map.keyValue(OTLPFields.values, field) }
            }
        }
    }
}

extension LogField {
    /// The bytes of a hexadecimal identifier, if the field has one of the names and such a value.
    fileprivate func identifier(among names: [String], byteCount: Int) -> [UInt8]? {
        guard names.contains(name), case .text(let text) = value,
            text.utf8.count == 2 * byteCount, let bytes = Hexadecimal.bytes(of: text)
        else { return nil }
        // All zeros is not a valid identifier (W3C Trace Context).
        return bytes.allSatisfy { $0 == 0 } ? nil : bytes
    }
}

extension Logger.Level {
    var severityNumber: UInt64 {
        switch self {
        case .trace: 1
        case .debug: 5
        case .info: 9
        case .notice: 10
        case .warning: 13
        case .error: 17
        case .critical: 21
        }
    }
}

#endif
