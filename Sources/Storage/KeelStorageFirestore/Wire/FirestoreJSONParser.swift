/// A JSON parser.
///
/// Foundation's parsers lose digits of integers or are slow, and merge members whose names differ only in Unicode
/// normalization.
struct FirestoreJSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    private var levelsLeft: Int
    private var valuesLeft: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, deepest: Int, mostValues: Int) {
        self.bytes = bytes
        levelsLeft = deepest
        valuesLeft = mostValues
    }

    mutating func document() throws(FirestoreJSONError) -> FirestoreJSON {
        let value = try value()
        skipSpace()
        guard position == bytes.count else { throw fault(.trailingBytes) }
        return value
    }

    func fault(_ reason: FirestoreJSONError.Reason) -> FirestoreJSONError {
        let isCut = reason == .unexpectedByte && position >= bytes.count
        return FirestoreJSONError(reason: isCut ? .unexpectedEnd : reason, offset: position)
    }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    // MARK: Values

    private mutating func value() throws(FirestoreJSONError) -> FirestoreJSON {
        skipSpace()
        guard valuesLeft > 0 else { throw fault(.tooMany) }
        valuesLeft -= 1
        switch next {
        case UInt8(ascii: "{"):
            return try nested { parser throws(FirestoreJSONError) in
                .object(try parser.members())
            }
        case UInt8(ascii: "["):
            return try nested { parser throws(FirestoreJSONError) in
                .array(try parser.elements())
            }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(
        _ read: (inout Self) throws(FirestoreJSONError) -> FirestoreJSON
    ) throws(FirestoreJSONError) -> FirestoreJSON {
        guard levelsLeft > 0 else { throw fault(.tooDeep) }
        levelsLeft -= 1
        position += 1
        let value = try read(&self)
        levelsLeft += 1
        return value
    }

    private mutating func members() throws(FirestoreJSONError) -> [FirestoreJSON.Member] {
        var members: [FirestoreJSON.Member] = []
        skipSpace()
        if take("}") { return members }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw fault(.unexpectedByte) }
            let name = try string()
            skipSpace()
            guard take(":") else { throw fault(.unexpectedByte) }
            members.append(FirestoreJSON.Member(name, try value()))
            skipSpace()
        } while take(",")
        guard take("}") else { throw fault(.unexpectedByte) }
        return members
    }

    private mutating func elements() throws(FirestoreJSONError) -> [FirestoreJSON] {
        var elements: [FirestoreJSON] = []
        skipSpace()
        if take("]") { return elements }
        repeat {
            elements.append(try value())
            skipSpace()
        } while take(",")
        guard take("]") else { throw fault(.unexpectedByte) }
        return elements
    }

    private mutating func word(
        _ word: StaticString,
        _ value: FirestoreJSON
    ) throws(FirestoreJSONError) -> FirestoreJSON {
        for index in 0..<word.utf8CodeUnitCount {
            guard next == word.utf8Start[index] else { throw fault(.unexpectedByte) }
            position += 1
        }
        return value
    }
}

extension FirestoreJSON {
    /// The nesting limit of requests: Firestore's 20 levels of values, each of which takes several JSON objects.
    package static let deepest = 128

    /// Parses JSON (RFC 8259).
    ///
    /// - Parameters:
    ///   - bytes: The text, in UTF-8.
    ///   - deepest: The nesting limit of arrays and objects.
    ///   - mostValues: The maximum number of values, because each takes memory even if its text is short.
    /// - Throws: `FirestoreJSONError` with the position of the first fault.
    package init(
        parsing bytes: some Collection<UInt8>,
        deepest: Int = FirestoreJSON.deepest,
        mostValues: Int = .max
    ) throws(FirestoreJSONError) {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            Self.parse(buffer, deepest, mostValues)
        }
        let parsed =
            result
            ?? Array(bytes).withUnsafeBufferPointer { Self.parse($0, deepest, mostValues) }
        self = try parsed.get()
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ deepest: Int,
        _ mostValues: Int
    ) -> Result<FirestoreJSON, FirestoreJSONError> {
        var parser = FirestoreJSONParser(bytes, deepest: deepest, mostValues: mostValues)
        return Result { () throws(FirestoreJSONError) in try parser.document() }
    }
}

/// An error in JSON text.
package struct FirestoreJSONError: Error, Hashable, CustomStringConvertible {
    /// The kinds of fault.
    package enum Reason: String, Sendable, Hashable {
        case unexpectedEnd = "the text ends too early"
        case unexpectedByte = "there is a character that JSON does not allow here"
        case badUTF8 = "a string is not valid UTF-8"
        case badEscape = "an escape sequence in a string is not one of JSON's"
        case badNumber = "a number is not of JSON's form, or is too large for a double"
        case tooDeep = "arrays and objects are nested too deeply"
        case tooMany = "there are too many values"
        case trailingBytes = "something follows the value"
    }

    /// The kind of fault.
    package let reason: Reason
    /// The offset of the fault, in bytes.
    package let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "\(reason.rawValue), at byte \(offset)" }
}
