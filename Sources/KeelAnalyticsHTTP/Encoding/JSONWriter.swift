import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes JSON (RFC 8259) as bytes, without blanks, in the order of the calls.
///
/// Property lists would be built for `JSONEncoder` only to be thrown away; and it has no way to
/// leave a vendor's spelling of numbers and moments to the writer.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Creates a writer with nothing written.
    init() {}

    /// Returns the bytes of one value.
    static func bytes(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        body(&writer)
        return writer.bytes
    }

    // MARK: Structure

    /// Writes an object whose members `body` writes.
    mutating func object(_ body: (inout JSONWriter) -> Void) {
        nest(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    /// Writes an array whose elements `body` writes.
    mutating func array(_ body: (inout JSONWriter) -> Void) {
        nest(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    /// Writes the name of a member; its value must follow.
    mutating func key(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func nest(_ open: UInt8, _ close: UInt8, _ body: (inout Self) -> Void) {
        separate()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    // MARK: Values

    /// Writes a text.
    mutating func value(_ text: String) {
        separate()
        quote(text)
    }

    /// Writes a whole number.
    mutating func value(_ number: Int64) { raw("\(number)".utf8) }

    /// Writes true or false.
    mutating func value(_ flag: Bool) { raw((flag ? "true" : "false").utf8) }

    /// Writes a number, or null where it is not finite: JSON has no word for that.
    mutating func value(_ number: Double) {
        // Swift's shortest text that reads back as the same number is also JSON's form.
        raw((number.isFinite ? "\(number)" : "null").utf8)
    }

    /// Writes null.
    mutating func null() { raw("null".utf8) }

    /// Writes bytes that are a JSON value already.
    mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    // MARK: Members

    /// Writes a member with a text; nil leaves it out.
    mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        key(name)
        value(text)
    }

    /// Writes a member with a whole number; nil leaves it out.
    mutating func member(_ name: String, _ number: Int64?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    /// Writes a member with true or false.
    mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    /// Writes a member whose value is an object.
    mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    /// Writes a member whose value is an array.
    mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        array(body)
    }

    // MARK: Texts

    private mutating func quote(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { units in
            var start = 0
            for (position, unit) in units.enumerated()
            where unit < 0x20 || unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\") {
                bytes.append(contentsOf: units[start..<position])
                bytes.append(contentsOf: Self.escape(of: unit).utf8)
                start = position + 1
            }
            bytes.append(contentsOf: units[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(of unit: UInt8) -> String {
        switch unit {
        case UInt8(ascii: "\""): #"\""#
        case UInt8(ascii: "\\"): #"\\"#
        case UInt8(ascii: "\n"): #"\n"#
        case UInt8(ascii: "\r"): #"\r"#
        case UInt8(ascii: "\t"): #"\t"#
        default: (unit < 16 ? #"\u000"# : #"\u00"#) + String(unit, radix: 16)
        }
    }
}

extension Date {
    /// Milliseconds since 1970, rounded to the nearest; years beyond reason are cut.
    var milliseconds: Int64 {
        let limit = 9_000_000_000_000_000.0
        return Int64(min(max(timeIntervalSince1970 * 1000, -limit), limit).rounded())
    }

    /// The moment in UTC as RFC 3339 text with milliseconds; nil for a year outside 0 to 9999.
    var internetText: String? { InternetDate.format(self, hasFraction: true) }
}
