/// The values of a TOML file, each with its line.
///
/// The part of TOML 1.0 that settings need: tables, dotted and quoted keys, strings on one line,
/// integers, booleans, arrays and comments. Other values are refused, never guessed.
package struct TOMLDocument: Hashable, Sendable {
    package indirect enum Value: Hashable, Sendable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case array([Value])
    }

    /// A key and its value.
    package struct Entry: Hashable, Sendable {
        /// The names of the tables that the key is in, and its own.
        package let path: [String]
        package let value: Value
        /// The line of the key, counted from 1.
        package let line: Int
    }

    /// The values in their order in the file.
    package let entries: [Entry]

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: The file's bytes.
    ///   - name: How errors name the file.
    /// - Throws: ``ToolError`` that names the first line that is not valid.
    package init(_ bytes: some Collection<UInt8>, name: String) throws {
        var parser = TOMLParser(Array(bytes), name: name)
        entries = try parser.entries()
    }
}
