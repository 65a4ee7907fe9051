/// What the linter knows of one Swift file: its syntax boiled down to what rules ask about.
package struct SourceFacts: Sendable, Equatable {
    /// What kept the file from being read whole.
    package enum Remark: UInt8, Sendable, CaseIterable {
        /// The parser met code that is no Swift, or brackets that nest too deep for it; what it
        /// understood counts.
        case syntaxError
        /// The file is no UTF-8; bytes that are none were replaced.
        case notUTF8
        /// The file was UTF-16 and has been converted.
        case converted
        /// The file holds bytes that no text has.
        case binary
        /// The file is larger than the limit and was not read.
        case tooLarge
        /// The file could not be read.
        case unreadable
        /// The file says of itself that a tool wrote it.
        case generated
    }

    /// A remark and where it applies.
    package struct Note: Sendable, Equatable {
        package var remark: Remark
        package var place: SourcePlace
    }

    package var notes: [Note] = []
    package var imports: [ImportFact] = []
    /// Declarations in the order of the source; a declaration comes after the one around it.
    package var declarations: [DeclarationFact] = []
    package var references: [ReferenceFact] = []
    package var occurrences: [OccurrenceFact] = []
    package var allows: [AllowFact] = []

    package init() {}

    /// Whether a note of this kind was made.
    package func has(_ remark: Remark) -> Bool { notes.contains { $0.remark == remark } }
}

/// A line and a column, both from 1; the column counts bytes of UTF-8, as the compiler does.
package struct SourcePlace: Sendable, Hashable, Comparable {
    package var line: Int32
    package var column: Int32

    package init(line: Int32, column: Int32) {
        self.line = line
        self.column = column
    }

    package static let start = Self(line: 1, column: 1)

    package static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// An import.
package struct ImportFact: Sendable, Equatable {
    /// The module; the first component of the path.
    package var module: String
    /// The whole path, such as `Foundation.URL`.
    package var path: String
    /// The keyword of what is imported from the module, such as `struct`; empty for the module.
    package var kind: String
    package var access: AccessLevel?
    package var attributes: ImportAttributes
    /// Whether it stands inside `#if`.
    package var isConditional: Bool
    package var place: SourcePlace
}

/// The attributes of an import that rules look at.
package struct ImportAttributes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let testable = Self(rawValue: 1)
    package static let exported = Self(rawValue: 2)
    package static let implementationOnly = Self(rawValue: 4)
    package static let preconcurrency = Self(rawValue: 8)
    package static let spi = Self(rawValue: 16)
}

/// An access level, from narrow to wide.
package enum AccessLevel: UInt8, Sendable, Comparable, CaseIterable {
    case `private`
    case `fileprivate`
    case `internal`
    case package
    case `public`
    case open

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A declaration with a name.
package struct DeclarationFact: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        case `struct`
        case `class`
        case `enum`
        case actor
        case `protocol`
        case `typealias`
        case `extension`
        case function
        case initializer
        case variable
        case `subscript`
        case enumCase
        case other

        /// Whether its name names a type.
        package var isType: Bool { rawValue <= Self.typealias.rawValue }
        /// Whether values of it exist.
        package var isNominal: Bool { rawValue <= Self.actor.rawValue }

        /// The keyword, for people.
        package var word: String {
            switch self {
            case .struct: "struct"
            case .class: "class"
            case .enum: "enum"
            case .actor: "actor"
            case .protocol: "protocol"
            case .typealias: "typealias"
            case .extension: "extension"
            case .function: "func"
            case .initializer: "init"
            case .variable: "var"
            case .subscript: "subscript"
            case .enumCase: "case"
            case .other: "declaration"
            }
        }
    }

    package struct Traits: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let conditional = Self(rawValue: 1)
        /// It throws, and the type of what it throws is not named.
        package static let throwsAnything = Self(rawValue: 2)
        package static let isStored = Self(rawValue: 4)
        package static let isStatic = Self(rawValue: 8)
        package static let throwsTyped = Self(rawValue: 16)
        /// A variable with an attribute, such as a property wrapper.
        package static let hasAttributes = Self(rawValue: 32)
    }

    package var kind: Kind
    package var name: String
    /// The name with those around it: `Outer.Inner.method`.
    package var qualifiedName: String
    /// The position of the declaration around it in the file's list; -1 at the top.
    package var parent: Int32
    /// How far it can be seen: its own level within those of what is around it.
    package var access: AccessLevel
    package var traits: Traits
    package var place: SourcePlace

    /// `Outer.name`, made in one piece.
    static func qualified(_ name: String, in outer: String) -> String {
        var text = ""
        text.reserveCapacity(outer.utf8.count + 1 + name.utf8.count)
        text += outer
        text += "."
        text += name
        return text
    }
}

/// A name of a type, where it is used.
package struct ReferenceFact: Sendable, Equatable {
    package enum Context: UInt8, Sendable, CaseIterable {
        /// Parameters, results, errors and properties: what others can see.
        case signature
        /// A stored property.
        case storage
        /// Conformance or superclass.
        case inheritance
        /// `extension X`.
        case extended
        /// The inside of a function, and initial values.
        case body
        /// `@X` and macros.
        case attribute
        /// The right side of a typealias.
        case alias
        /// The default value of a parameter, and what is passed to `self.init`: who calls can pass another.
        case defaultArgument
    }

    /// The name, with members that follow it: `URLSession.shared`.
    package var path: String
    package var context: Context
    /// The labels of a call, such as `(in:using:)`; empty if it is not called.
    package var call: String
    /// The declaration that it stands in; -1 outside.
    package var declaration: Int32
    package var place: SourcePlace

    /// The first component of the path.
    package var root: Substring {
        // By bytes: to find characters takes ten times as long, and there are many references.
        path.utf8.firstIndex(of: UInt8(ascii: ".")).map { path[..<$0] } ?? path[...]
    }
}

/// A piece of code that a rule has asked for by its form.
package struct OccurrenceFact: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// `x ?? UUID()`: name is what replaces the missing value.
        case freshDefault
        /// `try? store.save(x)` whose value nobody takes: name is the function called.
        case droppedTry
        /// `store.save(x)`: name is receiver and function, detail the declared type of `x`.
        case handedOver
        /// `.filter { … }` and the like: name is the function.
        case transformation
        /// A `try` that no `catch` around it sees: name is the function called.
        case uncaughtTry
    }

    package var kind: Kind
    package var name: String
    package var detail: String
    package var declaration: Int32
    package var place: SourcePlace
}

/// A comment `// keel:allow(rule) reason`.
package struct AllowFact: Sendable, Equatable {
    package var rules: [String]
    package var reason: String
    /// The line that it allows: its own, or the next line of code if it stands alone.
    package var line: Int32
    /// Whether it allows the whole file: `keel:allow-file(rule) reason`.
    package var isForFile: Bool
    package var place: SourcePlace
}
