#if Logging

internal import Logging

/// Writes records as JSON objects, one per line (RFC 8259).
///
/// ```json
/// {"time":"2026-11-22T09:45:13.123456Z","level":"info","label":"app","message":"signed in",
///  "metadata":{"user":"7"},"source":"App","file":"App/Home.swift","function":"load()","line":12}
/// ```
///
/// Each record takes exactly one line, whatever its texts contain. `metadata` is present only if the record has fields.
package enum JSONLine {
    static func append(_ record: LogRecord, to line: inout LineBuffer) {
        begin(at: record.time, &line)
        let known = line.sites.parts(
            record.level,
            record.label,
            record.source,
            record.file,
            record.function,
            record.line
        )
        if let known {
            line.append(known.middle)
        } else {
            middle(of: record).withUnsafeBytes { line.append($0) }
        }
        append(record.message, to: &line)
        if !record.fields.isEmpty {
            line.append(#","metadata":"#)
            append(record.fields, to: &line)
        }
        if let known {
            line.append(known.end)
        } else {
            let end = end(of: record)
            end.withUnsafeBytes { line.append($0) }
            if line.sites.isKept { line.sites.remember(middle(of: record), end, for: record) }
        }
    }

    @inline(__always)
    static func begin(at time: Int64, _ line: inout LineBuffer) {
        line.append(#"{"time":""#)
        line.append(utc: time)
    }

    /// The part between the time and the message.
    private static func middle(of record: LogRecord) -> [UInt8] {
        var line = LineBuffer()
        line.append(#"","level":""#)
        line.append(record.level.rawValue)
        line.append(#"","label":"#)
        append(record.label, to: &line)
        line.append(#","message":"#)
        return Array(line.bytes)
    }

    /// The part after the metadata.
    private static func end(of record: LogRecord) -> [UInt8] {
        var line = LineBuffer()
        line.append(#","source":"#)
        append(record.source, to: &line)
        line.append(#","file":"#)
        append(record.file, to: &line)
        line.append(#","function":"#)
        append(record.function, to: &line)
        line.append(#","line":"#)
        line.append(Int64(clamping: record.line))
        line.append("}\n")
        return Array(line.bytes)
    }

    private static func append(_ fields: [LogField], to line: inout LineBuffer) {
        var separator = UInt8(ascii: "{")
        for field in fields {
            line.append(separator)
            separator = UInt8(ascii: ",")
            append(field.name, to: &line)
            line.append(UInt8(ascii: ":"))
            append(field.value, to: &line)
        }
        line.append(fields.isEmpty ? "{}" : "}")
    }

    private static func append(_ value: LogValue, to line: inout LineBuffer) {
        switch value {
        case .text(let text): append(text, to: &line)
        case .map(let fields): append(fields, to: &line)
        case .list(let values):
            var separator = UInt8(ascii: "[")
            for value in values {
                line.append(separator)
                separator = UInt8(ascii: ",")
                append(value, to: &line)
            }
            line.append(values.isEmpty ? "[]" : "]")
        }
    }

    package static func append(_ text: String, to line: inout LineBuffer) {
        line.append(json: text)
    }

    /// Writes a byte of a text or its escape, and returns the next position.
    @inline(__always)
    static func store(_ byte: UInt8, at out: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        if byte > UInt8(ascii: "\\"), byte != 0x7F {
            out.storeBytes(of: byte, as: UInt8.self)
            return out + 1
        }
        return storeRare(byte, at: out)
    }

    private static func storeRare(
        _ byte: UInt8,
        at out: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        let mark: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): mark = byte
        case 0x0A: mark = UInt8(ascii: "n")
        case 0x0D: mark = UInt8(ascii: "r")
        case 0x09: mark = UInt8(ascii: "t")
        case 0..<0x20, 0x7F:
            let high: UInt8 = byte >> 4
            let low = byte & 0xF
            for (index, digit) in #"\u00"#.utf8.enumerated() {
                out.storeBytes(of: digit, toByteOffset: index, as: UInt8.self)
            }
            out.storeBytes(of: high + 0x30, toByteOffset: 4, as: UInt8.self)
            let digit = low < 10 ? low + 0x30 : low - 10 + 0x61
            out.storeBytes(of: digit, toByteOffset: 5, as: UInt8.self)
            return out + 6
        default:
            out.storeBytes(of: byte, as: UInt8.self)
            return out + 1
        }
        out.storeBytes(of: UInt8(ascii: "\\"), as: UInt8.self)
        out.storeBytes(of: mark, toByteOffset: 1, as: UInt8.self)
        return out + 2
    }
}

extension LineBuffer {
    package mutating func append(hexDigits byte: UInt8) {
        for digit in [byte >> 4, byte & 0xF] {
            append(digit < 10 ? digit + 0x30 : digit - 10 + 0x61)
        }
    }
}

#endif
