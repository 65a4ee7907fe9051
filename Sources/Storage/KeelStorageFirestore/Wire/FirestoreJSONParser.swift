/// A JSON parser.
///
/// Foundation's parsers convert integers beyond 53 bits to doubles or are slow at distinguishing the kinds of values,
/// and merge members whose names differ only in Unicode normalization.
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
