/// An invalid or missing configuration or baseline, or a folder without Swift files.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems, each with its file or folder and, if it has one, its position: `keel-lint.yml:3:5: …`.
    public let problems: [String]

    package init(_ problems: [String]) { self.problems = problems }

    /// All problems, one per line.
    public var description: String { problems.joined(separator: "\n") }
}
