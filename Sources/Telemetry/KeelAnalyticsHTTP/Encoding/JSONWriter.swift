import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes compact JSON (RFC 8259) as bytes, in the order of the calls.
///
/// `JSONEncoder` would require temporary dictionaries, and cannot format values for each vendor.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init() {}

    static func bytes(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        body(&writer)
        return writer.bytes
    }

    static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        bytes { $0.object(body) }
    }

    // MARK: Structure

    mutating func object(_ body: (inout JSONWriter) -> Void) {
        nest(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    mutating func array(_ body: (inout JSONWriter) -> Void) {
        nest(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    /// Writes the name of a member; its value must follow.
    mutating func key(_ name: String) {
        separate()
        JSONString.append(name, to: &bytes)
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

    mutating func value(_ text: String) {
        separate()
        JSONString.append(text, to: &bytes)
    }

    mutating func value(_ number: Int64) { raw("\(number)".utf8) }

    mutating func value(_ flag: Bool) { raw((flag ? "true" : "false").utf8) }

    /// Writes a number, or null if it is not finite, since JSON cannot represent that.
    mutating func value(_ number: Double) {
        // Swift's shortest round-trip representation is valid JSON.
        raw((number.isFinite ? "\(number)" : "null").utf8)
    }

    mutating func null() { raw("null".utf8) }

    /// Writes bytes that are already JSON.
    mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    // MARK: Members

    mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        key(name)
        value(text)
    }

    mutating func member(_ name: String, _ number: Int64?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    mutating func array(_ name: String, of elements: [[UInt8]]) {
        array(name) { writer in
            for element in elements { writer.raw(element) }
        }
    }

    mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        array(body)
    }
}

extension Date {
    /// Milliseconds since 1970, rounded to the nearest, and clamped for extreme years.
    var milliseconds: Int64 {
        let limit = 9_000_000_000_000_000.0
        return Int64(min(max(timeIntervalSince1970 * 1000, -limit), limit).rounded())
    }

    /// The date in UTC as RFC 3339 text with milliseconds; nil for a year outside 0 to 9999.
    var internetText: String? { InternetDate.format(self, hasFraction: true) }
}
