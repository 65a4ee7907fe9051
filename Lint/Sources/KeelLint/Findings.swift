/// The severity of a finding.
public enum Severity: String, Sendable, CaseIterable {
    /// Fails a run.
    case error
    /// Fails a run in strict mode.
    case warning
}

/// A finding of a rule.
public struct Finding: Sendable, Hashable {
    /// The id of the rule, or the name of the contract.
    public var rule: String
    /// The severity.
    public var severity: Severity
    /// The file, relative to the project's root; the configuration as ``Linter/configurationFile`` names it.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1, in bytes of UTF-8.
    public var column: Int
    /// The declaration, import or path of uses at fault; with the rule and the file, the key in a baseline.
    public var symbol: String
    /// The problem.
    public var message: String
    /// The remedy.
    public var help: String
    /// The steps of an indirect use or a cycle; empty for other findings.
    public var path: [String]

    /// Creates a finding.
    public init(
        rule: String,
        severity: Severity = .error,
        file: String,
        line: Int,
        column: Int,
        symbol: String,
        message: String,
        help: String,
        path: [String] = []
    ) {
        self.rule = rule
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.symbol = symbol
        self.message = message
        self.help = help
        self.path = path
    }

    package init(
        _ rule: String,
        in file: SourceFile,
        at place: SourcePlace,
        symbol: String,
        _ message: String,
        help: String,
        path: [String] = []
    ) {
        self.init(
            rule: rule,
            file: file.path,
            line: Int(place.line),
            column: Int(place.column),
            symbol: symbol,
            message: message,
            help: help,
            path: path
        )
    }
}

extension Finding: Comparable {
    /// Orders findings by file and position.
    public static func < (left: Self, right: Self) -> Bool {
        (left.file, left.line, left.column, left.rule, left.symbol, left.message)
            < (right.file, right.line, right.column, right.rule, right.symbol, right.message)
    }
}

/// Information about a run that is not a finding.
public struct Note: Sendable, Hashable {
    /// The file or folder; nil for the whole run.
    public var file: String?
    /// The information.
    public var text: String

    package init(_ text: String, file: String? = nil) {
        self.text = text
        self.file = file
    }
}
