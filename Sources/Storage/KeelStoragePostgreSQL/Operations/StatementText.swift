#if PostgreSQL
internal import CLibPQ
internal import KeelCore

extension StatementArguments {
    var literals: [(type: String, text: String)] {
        (0..<count).map { place in
            let name = Kind.name(of: types[place])
            guard let bytes = value(place) else { return (name, "NULL") }
            return (name, Self.literal(of: types[place], bytes) + "::" + name)
        }
    }

    private static func literal(of type: Oid, _ bytes: ArraySlice<UInt8>) -> String {
        switch type {
        case Kind.boolean: return bytes.first == 0 ? "false" : "true"
        case Kind.integer: return "'\(integer(bytes))'"
        case Kind.text: return "'\(quoted(String(decoding: bytes, as: UTF8.self)))'"
        case Kind.bytes: return #"'\x\#(Hexadecimal.text(of: bytes))'"#
        default: break
        }
        // A one-dimensional array: its dimensions, whether it has NULL, the type of its elements, their number, the
        // first place, and each element after its length.
        var rest = bytes
        func next(_ count: Int) -> ArraySlice<UInt8> {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        let dimensions = integer(next(4))
        _ = next(4)
        let element = Oid(truncatingIfNeeded: integer(next(4)))
        guard dimensions > 0 else { return "'{}'" }
        let count = integer(next(4))
        _ = next(4)
        let elements = (0..<count).map { _ -> String in
            let length = integer(next(4))
            return length < 0 ? "NULL" : literal(of: element, next(Int(length)))
        }
        return "ARRAY[\(elements.joined(separator: ", "))]"
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int64 {
        let number = UInt64(bigEndianBytes: bytes)
        return bytes.count == 4
            ? Int64(Int32(truncatingIfNeeded: number)) : Int64(bitPattern: number)
    }

    private static func quoted(_ text: String) -> String { text.replacing("'", with: "''") }
}

extension DatabaseStatement {
    /// The statement for `psql`; prepared if it has arguments, so that its text stays as Keel sends it.
    func script(named name: String) -> String {
        guard arguments.count > 0 else { return "\(sql);" }
        let literals = arguments.literals
        let types = literals.map(\.type).joined(separator: ", ")
        let values = literals.map(\.text).joined(separator: ", ")
        return """
            PREPARE \(name)(\(types)) AS
            \(sql);
            EXECUTE \(name)(\(values));
            """
    }
}
#endif
