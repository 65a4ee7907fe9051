/// Known findings that are tolerated, by rule, file and symbol, without line numbers.
///
/// The file has one of them per line, sorted, with fields separated by tabs. Empty lines and those that begin with `#`
/// are ignored.
public struct Baseline: Sendable, Hashable {
    /// The identity of a finding.
    public struct Key: Sendable, Hashable, Comparable {
        /// The id of the rule, or the name of the contract.
        public var rule: String
        /// The file, as in the finding.
        public var file: String
        /// The declaration, import or path of uses at fault.
        public var symbol: String

        /// Creates a key.
        public init(rule: String, file: String, symbol: String) {
            self.rule = rule
            self.file = file
            self.symbol = symbol
        }

        /// Orders keys by file, then rule, then symbol.
        public static func < (left: Self, right: Self) -> Bool {
            (left.file, left.rule, left.symbol) < (right.file, right.rule, right.symbol)
        }
    }

    /// The line of each key.
    package private(set) var lines: [Key: Int] = [:]

    /// The keys.
    public var keys: Set<Key> { Set(lines.keys) }

    /// Creates a baseline that tolerates findings.
    public init(_ findings: [Finding]) {
        for (number, key) in Set(findings.map(\.key)).sorted().enumerated() {
            lines[key] = number + Self.head.count + 1
        }
    }

    /// Parses a baseline, whose file has a name for messages.
    ///
    /// - Throws: A ``ConfigurationError`` with the invalid lines.
    public init(reading text: String, file: String) throws(ConfigurationError) {
        var problems: [String] = []
        // To Swift, CR and LF together are one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (number, line) in lines.enumerated() {
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(
                String.init
            )
            guard fields.count == 3 else {
                problems.append(
                    """
                    \(file):\(number + 1):1: A line of a baseline is a rule, a file and a \
                    symbol, separated by tabs. Write it with --write-baseline.
                    """
                )
                continue
            }
            self.lines[Key(rule: fields[0], file: fields[1], symbol: fields[2])] = number + 1
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    private static let head = [
        "# Findings that are known and tolerated: rule, file, symbol.",
        "# Written by keel-lint --write-baseline; --prune-baseline removes fixed findings.",
    ]

    /// The content of the baseline's file.
    public var text: String {
        (Self.head + lines.keys.sorted().map { "\($0.rule)\t\($0.file)\t\($0.symbol)" })
            .joined(separator: "\n") + "\n"
    }
}

extension Finding {
    /// The identity of the finding, with spaces for tabs and line breaks.
    public var key: Baseline.Key {
        func field(_ text: String) -> String {
            String(text.map { $0 == "\t" || $0.isNewline ? " " : $0 })
        }
        return Baseline.Key(rule: rule, file: field(file), symbol: field(symbol))
    }
}
