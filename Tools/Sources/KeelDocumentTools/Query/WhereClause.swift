package import KeelStorage

/// A condition on the command line: `FIELD OPERATOR VALUE`.
///
/// Dots in a field separate the names of nested maps. Names with characters other than letters, digits and “_” need
/// backticks. `__name__` is the document's id. ``ValueText`` describes the values.
package enum WhereClause {
    package static let operators: [(text: String, comparison: DocumentFilter.Comparison)] = [
        ("==", .equal), ("!=", .notEqual), ("<=", .lessOrEqual), ("<", .less),
        (">=", .greaterOrEqual), (">", .greater), ("not-in", .notIn), ("in", .in),
        ("array-contains-any", .arrayContainsAny), ("array-contains", .arrayContains),
    ]

    /// Parses a condition.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` with a description of the error.
    package static func filter(_ text: String) throws(StorageError) -> DocumentFilter {
        let clause = ValueText.trimmed(text[...])
        let field = fieldText(of: clause)
        let rest = ValueText.trimmed(clause[field.endIndex...])
        guard !field.isEmpty,
            let (name, comparison) = operators.first(where: { name, _ in
                rest.hasPrefix(name) && endsWord(rest.dropFirst(name.count), after: name)
            })
        else {
            let names = operators.map(\.text).joined(separator: " ")
            let value = ValueText.trimmed(rest.dropFirst())
            let example =
                !field.isEmpty && rest.hasPrefix("=") && !value.isEmpty
                ? ": type '\(field) == \(value)'" : " such as 'stars >= 4'"
            throw ValueText.flaw(
                "“\(text)” is not a condition\(example); the operators are \(names)"
            )
        }
        var value = try ValueText.value(String(rest.dropFirst(name.count)))
        if [.in, .notIn, .arrayContainsAny].contains(comparison), value.arrayValue == nil {
            throw ValueText.flaw(
                "“\(name)” takes a list: type '\(field) \(name) [1, 2]' or [red, blue]"
            )
        }
        // An id is always text, even if it looks like a number.
        if String(field) == "__name__" { value = identifier(value) }
        return .field(FieldPath(String(field)), comparison, value)
    }

    /// Parses `FIELD`, `FIELD:asc` or `FIELD:desc`.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` with a description of the error.
    package static func order(_ text: String) throws(StorageError) -> DocumentQuery.Order {
        guard let colon = text.lastIndex(of: ":") else { return .init(FieldPath(text)) }
        let field = FieldPath(String(text[..<colon]))
        switch text[text.index(after: colon)...] {
        case "asc": return .init(field, .ascending)
        case "desc": return .init(field, .descending)
        default:
            throw ValueText.flaw(
                "“\(text)” is not an order: type FIELD, FIELD:asc or FIELD:desc, such as stars:desc"
            )
        }
    }

    /// Returns the text up to white space or the sign of an operator, outside backticks.
    private static func fieldText(of clause: Substring) -> Substring {
        var isQuoted = false
        var isEscaped = false
        for index in clause.indices {
            switch clause[index] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "`": isQuoted.toggle()
            case let character where !isQuoted:
                if character.isWhitespace || "=!<>".contains(character) { return clause[..<index] }
            default: continue
            }
        }
        return clause
    }

    /// Returns whether an operator ends before the rest, so that `in` is not found in `inside`.
    private static func endsWord(_ rest: Substring, after name: String) -> Bool {
        guard name.first?.isLetter == true else { return true }
        return rest.first.map { $0.isWhitespace || $0 == "[" } ?? true
    }

    private static func identifier(_ value: DocumentValue) -> DocumentValue {
        switch value {
        case .integer(let number): .string("\(number)")
        case .array(let values): .array(values.map(identifier))
        default: value
        }
    }
}
