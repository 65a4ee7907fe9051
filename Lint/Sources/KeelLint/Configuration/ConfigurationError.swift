/// Why a configuration cannot be used.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, each with its place: `keel-lint.yml:3:5: …`.
    public let problems: [String]

    package init(_ problems: [String]) { self.problems = problems }

    /// All problems, one a line.
    public var description: String { problems.joined(separator: "\n") }
}
