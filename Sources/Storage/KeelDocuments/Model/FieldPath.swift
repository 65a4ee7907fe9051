internal import KeelCBOR
internal import KeelCore

/// The path of a field in a document, such as `name` or `address.city`.
///
/// In text, dots separate the names of nested maps. Enclose a name that contains a dot in backticks:
///
/// ```swift
/// let street: FieldPath = "address.street"
/// let host: FieldPath = "visits.`example.org`"
/// ```
public struct FieldPath: Sendable {
    /// The names from the outermost map to the field.
    public let names: [String]

    /// Creates a path from names, which may contain any character.
    public init(names: [String]) { self.names = names }

    /// Creates a path from text; between backticks, a backslash escapes the next character.
    public init(_ string: String) { names = Self.parse(string) }

    /// The document's id, as a field in queries.
    public static let documentID = FieldPath(names: ["__name__"])

    package var isDocumentID: Bool { names == ["__name__"] }

    /// Returns whether this path is `other` or a map that contains it.
    package func contains(_ other: FieldPath) -> Bool {
        names.count <= other.names.count && zip(names, other.names).allSatisfy(StoredName.same)
    }

    /// The path's error; nil if it is valid.
    package var flaw: String? {
        if isDocumentID { return nil }
        if names.isEmpty || names.contains(where: \.isEmpty) {
            return "the field path “\(self)” has an empty name"
        }
        // Below the top level, `__type__` marks a map that represents a vector.
        let reserved = names.enumerated().first { position, name in
            StoredName.isReserved(name) && (position == 0 || name != VectorValue.typeName)
        }
        if let name = reserved?.element {
            return "the field name “\(name)” has the reserved form “__…__”"
        }
        if let name = names.first(where: { $0.utf8.count > StoredName.longest }) {
            return "the field name “\(name.prefix(40))…” is longer than \(StoredName.longest) bytes"
        }
        return nil
    }

    private static func parse(_ string: String) -> [String] {
        var names = [""]
        var isQuoted = false
        var isEscaped = false
        // By scalars: a mark that begins a name would combine with the dot or backtick before it to one character.
        for scalar in string.unicodeScalars {
            switch scalar {
            case _ where isEscaped:
                names[names.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "`": isQuoted.toggle()
            case "." where !isQuoted: names.append("")
            default: names[names.count - 1].unicodeScalars.append(scalar)
            }
        }
        return names
    }
}

extension FieldPath: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.names.count == right.names.count && left.contains(right)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(names) }
}

extension FieldPath: Comparable {
    public static func < (left: Self, right: Self) -> Bool {
        for (one, other) in zip(left.names, right.names) where !StoredName.same(one, other) {
            return StoredName.precedes(one, other)
        }
        return left.names.count < right.names.count
    }
}

extension FieldPath: CustomStringConvertible {
    /// The path as in Firestore's REST protocol, quoted only if needed.
    public var description: String { names.map(Self.quoted).joined(separator: ".") }

    private static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.enumerated().allSatisfy { position, byte in
            byte.isASCIILetter || byte == UInt8(ascii: "_") || position > 0 && byte.isASCIIDigit
        }
        guard !isPlain || name.isEmpty else { return name }
        let escaped = name.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar == "`" || scalar == "\\" { text.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return "`\(escaped)`"
    }
}

extension FieldPath: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

/// A field path as UTF-8 bytes.
package struct CompiledFieldPath: Sendable, Hashable {
    package let names: [[UInt8]]

    package init(_ path: FieldPath) { names = path.names.map { Array($0.utf8) } }
}

extension CBORReader {
    mutating func moveToField(_ field: CompiledFieldPath) throws(CBORError) -> Bool {
        for name in field.names {
            guard try peekKind() == .map, let count = try readMapHeader() else { return false }
            guard try moveToValue(of: name, among: count) else { return false }
        }
        return true
    }

    private mutating func moveToValue(
        of name: [UInt8],
        among count: Int
    ) throws(CBORError) -> Bool {
        for _ in 0..<count {
            let key = try readTextRange(validating: false)
            // A deterministic encoding sorts shorter names first.
            if key.count > name.count { return false }
            if textEquals(key, name) { return true }
            try skip()
        }
        return false
    }
}
