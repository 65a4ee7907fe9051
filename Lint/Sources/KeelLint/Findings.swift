/// How much a finding matters.
public enum Severity: String, Sendable, CaseIterable {
    /// Makes a run fail.
    case error
    /// Makes a run fail in strict mode.
    case warning
}

/// One thing that a rule found.
public struct Finding: Sendable, Hashable {
    /// The id of the rule, or the name of the contract.
    public var rule: String
    /// How much it matters.
    public var severity: Severity
    /// The file, relative to the project's root.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1, in bytes of UTF-8.
    public var column: Int
    /// What it concerns, without line numbers: a declaration, or an import.
    ///
    /// With rule and file it makes the key of the baseline.
    public var symbol: String
    /// What is wrong.
    public var message: String
    /// What to do.
    public var help: String
    /// The way from one end to the other, for a contract that is broken over others.
    public var chain: [String]

    /// Makes a finding.
    ///
    /// - Parameters:
    ///   - rule: The id of the rule.
    ///   - severity: How much it matters.
    ///   - file: The file, relative to the root.
    ///   - line: The line, from 1.
    ///   - column: The column, from 1.
    ///   - symbol: What it concerns.
    ///   - message: What is wrong.
    ///   - help: What to do.
    ///   - chain: The way from one end to the other.
    public init(
        rule: String,
        severity: Severity = .error,
        file: String,
        line: Int,
        column: Int,
        symbol: String,
        message: String,
        help: String,
        chain: [String] = []
    ) {
        self.rule = rule
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.symbol = symbol
        self.message = message
        self.help = help
        self.chain = chain
    }

    package init(
        _ rule: String,
        in file: SourceFile,
        at place: SourcePlace,
        symbol: String,
        _ message: String,
        help: String,
        chain: [String] = []
    ) {
        self.init(
            rule: rule,
            file: file.path,
            line: Int(place.line),
            column: Int(place.column),
            symbol: symbol,
            message: message,
            help: help,
            chain: chain
        )
    }
}

extension Finding: Comparable {
    /// By file, then by place.
    public static func < (left: Self, right: Self) -> Bool {
        (left.file, left.line, left.column, left.rule, left.symbol, left.message)
            < (right.file, right.line, right.column, right.rule, right.symbol, right.message)
    }
}

/// Something to know that is no fault of the code.
public struct Remark: Sendable, Hashable {
    /// The file or folder it is about; nil for the whole run.
    public var file: String?
    /// What there is to know.
    public var text: String

    package init(_ text: String, file: String? = nil) {
        self.text = text
        self.file = file
    }
}
