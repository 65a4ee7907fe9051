/// Findings that are known and put up with: rule, file and symbol, without line numbers.
///
/// One finding a line, sorted, separated by tabs, so that changes of the code around a finding change
/// nothing, and two branches that mend different findings merge.
public struct Baseline: Sendable, Hashable {
    /// What tells a finding from others.
    public struct Key: Sendable, Hashable, Comparable {
        /// The id of the rule, or the name of the contract.
        public var rule: String
        /// The file, relative to the root.
        public var file: String
        /// What the finding concerns.
        public var symbol: String

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - rule: The id of the rule.
        ///   - file: The file, relative to the root.
        ///   - symbol: What the finding concerns.
        public init(rule: String, file: String, symbol: String) {
            self.rule = rule
            self.file = file
            self.symbol = symbol
        }

        /// By file, then rule, then symbol.
        public static func < (left: Self, right: Self) -> Bool {
            (left.file, left.rule, left.symbol) < (right.file, right.rule, right.symbol)
        }
    }

    /// Each key with the line that it stands in.
    package private(set) var lines: [Key: Int] = [:]

    /// The keys.
    public var keys: Set<Key> { Set(lines.keys) }

    /// A baseline of these findings.
    ///
    /// - Parameter findings: What to put up with.
    public init(_ findings: [Finding]) {
        for (number, key) in Set(findings.map(\.key)).sorted().enumerated() {
            lines[key] = number + Self.head.count + 1
        }
    }

    /// Reads a baseline.
    ///
    /// - Parameters:
    ///   - text: What the file holds.
    ///   - file: How messages call it.
    /// - Throws: A ``ConfigurationError`` that names the lines that are none.
    public init(reading text: String, file: String) throws(ConfigurationError) {
        var problems: [String] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let line = line.hasSuffix("\r") ? line.dropLast() : line
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
            lines[Key(rule: fields[0], file: fields[1], symbol: fields[2])] = number + 1
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    private static let head = [
        "# Findings that are known and put up with: rule, file, symbol.",
        "# Written by keel-lint --write-baseline; --prune-baseline removes what is mended.",
    ]

    /// The baseline as a file holds it.
    public var text: String {
        (Self.head + lines.keys.sorted().map { "\($0.rule)\t\($0.file)\t\($0.symbol)" })
            .joined(separator: "\n") + "\n"
    }
}

extension Finding {
    /// What tells it from others, whatever line it stands in.
    public var key: Baseline.Key { Baseline.Key(rule: rule, file: file, symbol: symbol) }
}
