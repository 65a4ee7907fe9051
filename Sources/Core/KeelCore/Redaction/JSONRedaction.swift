/// A redaction of a JSON text that arrives in pieces of any size.
///
/// The redaction holds one string or number at a time, at most 64 KiB. The value of a sensitive name is removed whole,
/// even an object or an array, unless it is `null`. In all other strings and numbers, values matching a pattern are
/// removed. JSON inside of strings is redacted as well, four levels deep, and removed below that.
///
/// The output of valid JSON is valid JSON, unless more than 512 containers are open: then the rest is discarded. An
/// unquoted word other than a number, `true`, `false` or `null` is replaced, and so is a string that is too long or
/// unterminated.
public struct JSONRedaction: Sendable {
    private enum Place {
        case between
        case string
        case bare
        /// Inside the value of a sensitive name, nested this many containers deep.
        case hidden(depth: Int)
        /// Too many containers are open, so the rest of the input is discarded.
        case lost
    }

    private let redactor: Redactor
    private let nesting: Int
    private var place = Place.between
    private var token: [UInt8] = []
    private var isTooLong = false
    private var isEscaped = false
    private var isInHiddenString = false
    private var containers: [UInt8] = []
    private var expectsKey = false
    private var valueIsHidden = false
    private var output: [UInt8] = []

    private static let tokenLimit = 64 * 1024
    private static let depthLimit = 512
    private static let nestingLimit = 4

    /// Begins a text.
    public init(_ redactor: Redactor = .standard) { self.init(redactor, nesting: 0) }

    private init(_ redactor: Redactor, nesting: Int) {
        self.redactor = redactor
        self.nesting = nesting
    }

    /// Adds the next bytes and returns the redacted output available so far.
    public mutating func redact(_ piece: some Sequence<UInt8>) -> [UInt8] {
        for byte in piece { take(byte) }
        defer { output.removeAll(keepingCapacity: true) }
        return output
    }

    /// Ends the text and returns the remaining output.
    public mutating func finish() -> [UInt8] {
        switch place {
        case .string: appendMarker(for: token)
        case .bare: endBare()
        default: break
        }
        place = .between
        defer { output = [] }
        return output
    }

    // MARK: - Bytes

    private mutating func take(_ byte: UInt8) {
        switch place {
        case .between: begin(byte)
        case .string: takeInString(byte)
        case .bare:
            guard byte.isASCIISpace || Self.endsBare(byte) else {
                keep(byte)
                return
            }
            endBare()
            begin(byte)
        case .hidden(let depth): skip(byte, depth: depth)
        case .lost: break
        }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""):
            token.removeAll(keepingCapacity: true)
            isTooLong = false
            isEscaped = false
            place = .string
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard !valueIsHidden else {
                appendMarker(for: [])
                valueIsHidden = false
                isInHiddenString = false
                place = .hidden(depth: 1)
                return
            }
            guard containers.count < Self.depthLimit else {
                appendMarker(for: [])
                place = .lost
                return
            }
            containers.append(byte)
            expectsKey = byte == UInt8(ascii: "{")
            output.append(byte)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = containers.popLast()
            expectsKey = false
            valueIsHidden = false
            output.append(byte)
        case UInt8(ascii: ","):
            expectsKey = containers.last == UInt8(ascii: "{")
            valueIsHidden = false
            output.append(byte)
        case UInt8(ascii: ":"):
            expectsKey = false
            output.append(byte)
        case _ where byte.isASCIISpace:
            output.append(byte)
        default:
            token.removeAll(keepingCapacity: true)
            isTooLong = false
            place = .bare
            keep(byte)
        }
    }

    private static func endsBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "}"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\""):
            true
        default: false
        }
    }

    private mutating func keep(_ byte: UInt8) {
        guard token.count < Self.tokenLimit else {
            isTooLong = true
            return
        }
        token.append(byte)
    }

    private mutating func takeInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            place = .between
            endString()
            return
        }
        keep(byte)
    }

    private mutating func skip(_ byte: UInt8, depth: Int) {
        if isInHiddenString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInHiddenString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""):
            isInHiddenString = true
            isEscaped = false
        case UInt8(ascii: "{"), UInt8(ascii: "["): place = .hidden(depth: depth + 1)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            place = depth == 1 ? .between : .hidden(depth: depth - 1)
        default: break
        }
    }

    // MARK: - Tokens

    private mutating func endString() {
        if expectsKey {
            expectsKey = false
            let text = JSONText.unescaped(token) ?? token
            valueIsHidden = isTooLong || redactor.names.contains(utf8: text)
            appendString(token)
        } else if valueIsHidden {
            valueIsHidden = false
            appendMarker(for: token)
        } else {
            appendString(token)
        }
    }

    private mutating func appendString(_ raw: [UInt8]) {
        guard !isTooLong else { return appendMarker(for: raw) }
        let text = JSONText.unescaped(raw) ?? raw
        let redacted = isDocument(text) ? redactedDocument(text) : redactor.redacted(text)
        output.append(UInt8(ascii: "\""))
        output += redacted.map(JSONText.escaped) ?? raw
        output.append(UInt8(ascii: "\""))
    }

    private func isDocument(_ text: [UInt8]) -> Bool {
        (text.first == UInt8(ascii: "{") && text.last == UInt8(ascii: "}"))
            || (text.first == UInt8(ascii: "[") && text.last == UInt8(ascii: "]"))
    }

    private func redactedDocument(_ text: [UInt8]) -> [UInt8] {
        guard nesting < Self.nestingLimit else {
            return Array(redactor.marker.replacement(for: text).utf8)
        }
        var inner = JSONRedaction(redactor, nesting: nesting + 1)
        return inner.redact(text) + inner.finish()
    }

    private mutating func endBare() {
        place = .between
        // Not JSON, but the name in a literal of JavaScript, whose value may be a string.
        let isSensitiveName = expectsKey && (isTooLong || redactor.names.contains(utf8: token))
        let isLiteral =
            token.elementsEqual("null".utf8) || token.elementsEqual("true".utf8)
            || token.elementsEqual("false".utf8)
        let isNumber =
            token.count <= 64
            && token.allSatisfy { $0.isASCIIDigit || "+-.eE".utf8.contains($0) }
        let isPassed =
            !isTooLong
            && (token.elementsEqual("null".utf8)
                || (!valueIsHidden
                    && (isLiteral || (isNumber && redactor.redacted(token) == nil))))
        valueIsHidden = isSensitiveName
        if isPassed {
            output += token
        } else {
            appendMarker(for: token)
        }
    }

    private mutating func appendMarker(for secret: [UInt8]) {
        output.append(UInt8(ascii: "\""))
        output += JSONText.escaped(Array(redactor.marker.replacement(for: secret).utf8))
        output.append(UInt8(ascii: "\""))
    }
}

extension Redactor {
    /// Returns a JSON text without its secrets; see ``JSONRedaction``.
    public func redactJSON(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var redaction = JSONRedaction(self)
        return redaction.redact(bytes) + redaction.finish()
    }
}

enum JSONText {
    static func unescaped(_ raw: [UInt8]) -> [UInt8]? {
        guard raw.contains(UInt8(ascii: "\\")) else { return nil }
        var units: [UInt16] = []
        var text: [UInt8] = []
        func flush() {
            guard !units.isEmpty else { return }
            text += String(decoding: units, as: UTF16.self).utf8
            units = []
        }
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\"), index + 1 < raw.count else {
                flush()
                text.append(raw[index])
                index += 1
                continue
            }
            let mark = raw[index + 1]
            if mark == UInt8(ascii: "u"), index + 5 < raw.count,
                let unit = UInt16(
                    String(decoding: raw[(index + 2)...(index + 5)], as: UTF8.self),
                    radix: 16
                )
            {
                units.append(unit)
                index += 6
                continue
            }
            flush()
            text.append(plain[mark] ?? mark)
            index += 2
        }
        flush()
        return text
    }

    static func escaped(_ text: [UInt8]) -> [UInt8] {
        var raw: [UInt8] = []
        text.withUnsafeBufferPointer { JSONString.append(utf8: $0, to: &raw) }
        return Array(raw.dropFirst().dropLast())
    }

    private static let plain: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C,
    ]
}
