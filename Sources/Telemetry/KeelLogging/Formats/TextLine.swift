#if Logging

internal import Logging

/// Writes records for people to read.
///
/// ```text
/// 🔍 [2026-11-22 10:45:13.123] [DEBUG] [Home.swift:12] load(): signed in user=7 - Error: …
/// ```
///
/// Control characters are escaped, so that a text can neither forge a line nor control a terminal.
/// Line breaks are escaped unless they are indented.
struct TextLine {
    var hasSymbols = false
    var hasColors = false
    var indentsLineBreaks = false
    /// Returns the seconds that local time is ahead of UTC at a time in seconds since 1970.
    var offset: @Sendable (Int64) -> Int64 = { SystemTime.localOffset(at: $0) }

    func append(_ record: LogRecord, to line: inout LineBuffer) {
        if hasSymbols {
            line.append(record.level.symbolText)
            line.append(UInt8(ascii: " "))
        }
        line.append(UInt8(ascii: "["))
        line.append(local: record.time, offset: offset(record.time / 1_000_000))
        line.append("] [")
        if hasColors { line.append(record.level.color) }
        line.append(record.level.titleText)
        if hasColors { line.append("\u{1B}[0m") }
        line.append("] ")
        if !record.label.isEmpty {
            line.append(UInt8(ascii: "["))
            append(record.label, to: &line)
            line.append("] ")
        }
        line.append(UInt8(ascii: "["))
        append(record.fileName, to: &line)
        line.append(UInt8(ascii: ":"))
        line.append(Int64(clamping: record.line))
        line.append("] ")
        append(record.function, to: &line)
        line.append(": ")
        append(record.message, to: &line)
        var error: LogValue?
        for field in record.fields {
            if field.name == "error.message" {
                error = field.value
                continue
            }
            if hasColors { line.append("\u{1B}[2m") }
            line.append(UInt8(ascii: " "))
            append(field.name, to: &line)
            line.append(UInt8(ascii: "="))
            append(field.value.description, to: &line)
            if hasColors { line.append("\u{1B}[0m") }
        }
        if let error {
            line.append(" - Error: ")
            append(error.description, to: &line)
        }
        line.append(UInt8(ascii: "\n"))
    }

    private func append(_ text: String, to line: inout LineBuffer) {
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            var index = 0
            while index < bytes.count {
                let length = Self.controlLength(in: bytes, at: index)
                guard length > 0 else {
                    index += 1
                    continue
                }
                line.append(
                    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start..<index])
                )
                appendControl(bytes[index + length - 1], to: &line)
                index += length
                start = index
            }
            line.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start...]))
        }
    }

    /// The length of the control character at the index: C0, DEL or C1 (after C2), or zero.
    private static func controlLength(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        if bytes[index] < 0x20 || bytes[index] == 0x7F { return 1 }
        guard bytes[index] == 0xC2, index + 1 < bytes.count, bytes[index + 1] < 0xA0 else {
            return 0
        }
        return 2
    }

    private func appendControl(_ byte: UInt8, to line: inout LineBuffer) {
        switch byte {
        case 0x0A where indentsLineBreaks: line.append("\n    ")
        case 0x0A: line.append(#"\n"#)
        case 0x0D: line.append(#"\r"#)
        case 0x09: line.append(#"\t"#)
        default:
            line.append(#"\u{"#)
            line.append(hexDigits: byte)
            line.append(UInt8(ascii: "}"))
        }
    }
}

extension LogRecord {
    /// The name of the file without module and folders.
    var fileName: String {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return file }
        return String(file[file.utf8.index(after: slash)...])
    }
}

extension Logger.Level {
    /// The level's color as an escape sequence (ECMA-48, "select graphic rendition").
    var color: StaticString {
        switch self {
        case .trace, .debug: "\u{1B}[90m"
        case .info: "\u{1B}[36m"
        case .notice: "\u{1B}[32m"
        case .warning: "\u{1B}[33m"
        case .error: "\u{1B}[31m"
        case .critical: "\u{1B}[1;31m"
        }
    }
}

#endif
