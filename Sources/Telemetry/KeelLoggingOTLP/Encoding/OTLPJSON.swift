#if Logging

internal import KeelCore

internal import KeelLogging

/// Converts OTLP messages from Protocol Buffers to JSON.
///
/// Follows the OTLP specification, "JSON Protobuf Encoding": names in lower camel case, 64-bit
/// numbers as strings, enumerations as numbers, trace and span identifiers in hexadecimal.
struct OTLPJSON: ~Copyable {
    private var line = LineBuffer(capacity: 16 << 10)

    var bytes: [UInt8] { Array(line.bytes) }

    mutating func open(_ text: StaticString) { line.append(text) }

    mutating func text(_ text: String) { JSONLine.append(text, to: &line) }

    mutating func attribute(_ key: String, _ value: String) {
        line.append(#"{"key":"#)
        text(key)
        line.append(#","value":{"stringValue":"#)
        text(value)
        line.append("}}")
    }

    mutating func logRecord(_ message: ArraySlice<UInt8>) {
        typealias Fields = OTLPFields.LogRecord
        var reader = ProtobufReader(message)
        var separator: StaticString = "{"
        var attributes: [ArraySlice<UInt8>] = []
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (Fields.attributes, .data(let data)):
                attributes.append(data)
                continue
            case (Fields.timeUnixNano, .fixed64(let time)):
                line.append(separator)
                line.append(#""timeUnixNano":""#)
                line.append(Int64(clamping: time))
                line.append(#"""#)
            case (Fields.observedTimeUnixNano, .fixed64(let time)):
                line.append(separator)
                line.append(#""observedTimeUnixNano":""#)
                line.append(Int64(clamping: time))
                line.append(#"""#)
            case (Fields.severityNumber, .varint(let number)):
                line.append(separator)
                line.append(#""severityNumber":"#)
                line.append(Int64(clamping: number))
            case (Fields.severityText, .data(let data)):
                line.append(separator)
                line.append(#""severityText":"#)
                text(String(decoding: data, as: UTF8.self))
            case (Fields.body, .data(let data)):
                line.append(separator)
                line.append(#""body":"#)
                anyValue(data)
            case (Fields.traceID, .data(let data)):
                line.append(separator)
                line.append(#""traceId":"#)
                hex(data)
            case (Fields.spanID, .data(let data)):
                line.append(separator)
                line.append(#""spanId":"#)
                hex(data)
            default:
                continue
            }
            separator = ","
        }
        line.append(separator)
        line.append(#""attributes":["#)
        for (index, attribute) in attributes.enumerated() {
            if index > 0 { line.append(",") }
            keyValue(attribute)
        }
        line.append("]}")
    }

    private mutating func keyValue(_ message: ArraySlice<UInt8>) {
        var reader = ProtobufReader(message)
        var (key, value) = (ArraySlice<UInt8>(), ArraySlice<UInt8>())
        while let (field, content) = reader.next() {
            guard case .data(let data) = content else { continue }
            if field == OTLPFields.KeyValue.key { key = data }
            if field == OTLPFields.KeyValue.value { value = data }
        }
        line.append(#"{"key":"#)
        text(String(decoding: key, as: UTF8.self))
        line.append(#","value":"#)
        anyValue(value)
        line.append("}")
    }

    private mutating func anyValue(_ message: ArraySlice<UInt8>) {
        var reader = ProtobufReader(message)
        switch reader.next() {
        case (OTLPFields.AnyValue.string, .data(let data))?:
            line.append(#"{"stringValue":"#)
            text(String(decoding: data, as: UTF8.self))
        case (OTLPFields.AnyValue.integer, .varint(let number))?:
            line.append(#"{"intValue":""#)
            line.append(Int64(bitPattern: number))
            line.append(#"""#)
        case (OTLPFields.AnyValue.array, .data(let data))?:
            line.append(#"{"arrayValue":{"values":["#)
            list(data) { $0.anyValue($1) }
            line.append("]}")
        case (OTLPFields.AnyValue.map, .data(let data))?:
            line.append(#"{"kvlistValue":{"values":["#)
            list(data) { $0.keyValue($1) }
            line.append("]}")
        default:
            // A value of a kind that Keel does not write.
            line.append("{")
        }
        line.append("}")
    }

    private mutating func list(
        _ message: ArraySlice<UInt8>,
        _ write: (inout OTLPJSON, ArraySlice<UInt8>) -> Void
    ) {
        var reader = ProtobufReader(message)
        var isFirst = true
        while let (field, value) = reader.next() {
            guard field == OTLPFields.values, case .data(let data) = value else { continue }
            if !isFirst { line.append(",") }
            isFirst = false
            write(&self, data)
        }
    }

    private mutating func hex(_ data: ArraySlice<UInt8>) {
        line.append(#"""#)
        for byte in data { line.append(hexDigits: byte) }
        line.append(#"""#)
    }
}

#endif
