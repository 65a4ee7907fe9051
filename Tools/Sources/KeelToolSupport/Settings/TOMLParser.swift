/// Reads a TOML file from its first byte to its last.
struct TOMLParser {
    private typealias Value = TOMLDocument.Value

    /// The definition of a name; TOML allows one per name.
    private enum Definition {
        case value
        /// A header such as `[a.b]`.
        case table
        /// A table above one with a header; it may still get its own.
        case parent
        /// A table of a dotted key; it must not get a header.
        case dotted
    }

    private let bytes: [UInt8]
    private let name: String
    private var position = 0
    private var line = 1
    private var table: [String] = []
    private var definitions: [[String]: Definition] = [:]
    private var found: [TOMLDocument.Entry] = []
    private(set) var tables: [[String]] = []

    init(_ bytes: [UInt8], name: String) {
        self.bytes = bytes
        self.name = name
        // Some editors start UTF-8 files with a byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func entries() throws -> [TOMLDocument.Entry] {
        try checkText()
        while position < bytes.count {
            skipSpace()
            switch peek {
            case nil, UInt8(ascii: "#"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): break
            case UInt8(ascii: "["): try header()
            default: try assignment()
            }
            try endLine()
        }
        return found
    }

    /// TOML is UTF-8 without control characters.
    private func checkText() throws {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw error("the file is not UTF-8", "Save it as UTF-8.", at: 1)
        }
        var number = 1
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "\n") { number += 1 }
            let isLineEnd =
                byte == UInt8(ascii: "\r") && index + 1 < bytes.count
                && bytes[index + 1] == UInt8(ascii: "\n")
            let isAllowed = byte == 0x09 || byte == 0x0A || isLineEnd
            guard isAllowed || (byte >= 0x20 && byte != 0x7F) else {
                throw error("there is a control character", "Remove it.", at: number)
            }
        }
    }

    // MARK: Lines

    private mutating func header() throws {
        position += 1
        guard peek != UInt8(ascii: "[") else {
            throw error("arrays of tables are not supported", "Give each table its own name.")
        }
        let path = try key()
        guard take("]") else { throw error("the header has no “]”", "Write [NAME].") }
        for length in 1..<path.count {
            let parent = Array(path.prefix(length))
            guard definitions[parent] != .value else { throw taken(parent, isTable: true) }
            if definitions[parent] == nil { definitions[parent] = .parent }
        }
        guard definitions[path] == nil || definitions[path] == .parent else {
            throw taken(path, isTable: true)
        }
        definitions[path] = .table
        table = path
        tables.append(path)
    }

    private mutating func assignment() throws {
        let start = line
        let path = table + (try key())
        guard take("=") else {
            throw error("there is no “=” after the key", "Write KEY = VALUE.")
        }
        skipSpace()
        let value = try value(depth: 0)
        for length in table.count + 1..<max(table.count + 1, path.count) {
            let parent = Array(path.prefix(length))
            guard definitions[parent] == nil || definitions[parent] == .dotted else {
                throw taken(parent, isTable: true)
            }
            definitions[parent] = .dotted
        }
        guard definitions[path] == nil else { throw taken(path, isTable: false) }
        definitions[path] = .value
        found.append(TOMLDocument.Entry(path: path, value: value, line: start))
    }

    private mutating func endLine() throws {
        skipSpace()
        skipComment()
        if peek == UInt8(ascii: "\r") { position += 1 }
        guard let byte = peek else { return }
        guard byte == UInt8(ascii: "\n") else {
            throw error("something follows the value", "Write one KEY = VALUE per line.")
        }
        position += 1
        line += 1
    }

    // MARK: Keys

    private mutating func key() throws -> [String] {
        var path: [String] = []
        repeat {
            skipSpace()
            path.append(try keyPart())
            skipSpace()
        } while take(".")
        return path
    }

    private mutating func keyPart() throws -> String {
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return try string()
        default: break
        }
        let start = position
        while let byte = peek, byte.isBareKey { position += 1 }
        guard position > start else {
            throw error(
                "a key is missing",
                "Keys have letters, digits, - and _; enclose others in quotation marks."
            )
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    // MARK: Values

    private mutating func value(depth: Int) throws -> Value {
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "{"):
            throw error("tables in braces are not supported", "Write a [TABLE] of its own.")
        default: break
        }
        let start = position
        while let byte = peek,
            byte.isBareKey || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
        {
            position += 1
        }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        if word == "true" { return .boolean(true) }
        if word == "false" { return .boolean(false) }
        if let integer = Self.integer(word) { return .integer(integer) }
        throw error(
            word.isEmpty ? "a value is missing" : "“\(word)” is not a value",
            "Values are \"text\", integers, true, false, or arrays of them: [1, 2]."
        )
    }

    private mutating func array(depth: Int) throws -> Value {
        guard depth < 16 else { throw error("arrays are too deep", "Nest fewer of them.") }
        position += 1
        var values: [Value] = []
        while true {
            skipLines()
            if take("]") { return .array(values) }
            guard peek != nil else { throw error("an array has no “]”", "Add it.") }
            values.append(try value(depth: depth + 1))
            skipLines()
            guard !take("]") else { return .array(values) }
            guard take(",") else {
                throw error("an array has no “,” between two values", "Add it, or the “]”.")
            }
        }
    }

    private mutating func string() throws -> String {
        let quote = bytes[position]
        guard !bytes[position...].starts(with: [quote, quote, quote]) else {
            throw error("strings of several lines are not supported", "Use \\n in one line.")
        }
        position += 1
        var text: [UInt8] = []
        while let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            position += 1
            if byte == quote { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                text += Array(String(try escape()).utf8)
            } else {
                text.append(byte)
            }
        }
        throw error("a string has no end", "Close it with \(Character(Unicode.Scalar(quote))).")
    }

    private mutating func escape() throws -> Character {
        let byte = peek
        position += 1
        switch byte {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "u"): return try scalar(digits: 4)
        case UInt8(ascii: "U"): return try scalar(digits: 8)
        default:
            throw error(
                "a string has an escape that TOML does not know",
                "Write \\\\ for a backslash, or put the text in single quotation marks."
            )
        }
    }

    private mutating func scalar(digits: Int) throws -> Character {
        let end = min(bytes.count, position + digits)
        let text = String(decoding: bytes[position..<end], as: UTF8.self)
        guard text.utf8.count == digits, text.utf8.allSatisfy(\.isHexadecimal),
            let number = UInt32(text, radix: 16), let scalar = Unicode.Scalar(number)
        else {
            throw error(
                "a string has an escape that is not a character",
                "\\u takes four hexadecimal digits, \\U eight."
            )
        }
        position = end
        return Character(scalar)
    }

    /// Parses an integer without leading zeros, with `_` only between digits.
    private static func integer(_ word: String) -> Int? {
        let radixes = ["0x": 16, "0o": 8, "0b": 2]
        let radix = radixes[String(word.prefix(2))]
        let signed = radix == nil && (word.hasPrefix("+") || word.hasPrefix("-"))
        let digits = radix != nil ? word.dropFirst(2) : signed ? word.dropFirst() : word[...]
        let groups = digits.split(separator: "_", omittingEmptySubsequences: false)
        guard groups.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isHexadecimal) }) else {
            return nil
        }
        guard radix != nil || digits.count == 1 || !digits.hasPrefix("0") else { return nil }
        let sign = word.hasPrefix("-") ? "-" : ""
        return Int(sign + groups.joined(), radix: radix ?? 10)
    }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while peek == 0x20 || peek == 0x09 { position += 1 }
    }

    private mutating func skipComment() {
        guard peek == UInt8(ascii: "#") else { return }
        while let byte = peek, byte != UInt8(ascii: "\n") { position += 1 }
    }

    /// Skips white space, ends of lines and comments.
    private mutating func skipLines() {
        while true {
            skipSpace()
            skipComment()
            guard let byte = peek, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
                return
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    // MARK: Errors

    private func taken(_ path: [String], isTable: Bool) -> ToolError {
        let name = path.joined(separator: ".")
        guard isTable == (definitions[path] == .value) else {
            return error("“\(name)” is defined twice", "Remove one of them.")
        }
        // An option of every command, or of every command in a profile.
        let isOption = path.count == 1 || path.count == 3 && path[0] == "profile"
        let table = (path.dropLast() + ["all"]).joined(separator: ".")
        return error(
            "“\(name)” is both a value and a table, which TOML does not allow",
            isOption
                ? "Write “\(path[path.count - 1]) = …” into the table [\(table)], which is for every "
                    + "command that has the option."
                : "Remove one of them."
        )
    }

    private func error(_ message: String, _ advice: String, at number: Int? = nil) -> ToolError {
        ToolError("\(name):\(number ?? line): \(message)", advice: advice)
    }
}

extension UInt8 {
    fileprivate var isHexadecimal: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    fileprivate var isBareKey: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// The values of a TOML file, each with its line.
///
/// The supported part of TOML 1.0 has tables, dotted and quoted keys, strings on one line, integers, booleans, arrays
/// and comments.
package struct TOMLDocument: Hashable, Sendable {
    package indirect enum Value: Hashable, Sendable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case array([Value])
    }

    package struct Entry: Hashable, Sendable {
        /// The names of the tables of the key, and its own.
        package let path: [String]
        package let value: Value
        /// The line of the key, counted from 1.
        package let line: Int
    }

    /// The values in the order of the file.
    package let entries: [Entry]
    /// The paths of the tables with headers, including those without keys.
    package let tables: [[String]]

    /// Reads a document; `name` is that of the file in errors.
    ///
    /// - Throws: ``ToolError`` with the line of the error; with line 1 for a file that is not UTF-8.
    package init(_ bytes: some Collection<UInt8>, name: String) throws {
        var parser = TOMLParser(Array(bytes), name: name)
        entries = try parser.entries()
        tables = parser.tables
    }
}
