/// A built-in rule with its explanation.
public struct RuleDescription: Sendable, Hashable {
    /// The id in configurations, findings and `keel:allow`.
    public let id: String
    /// The requirement, in one sentence.
    public let summary: String
    /// The reason for the requirement.
    public let reason: String
    /// An example of a violation.
    public let violation: String
    /// The corrected example.
    public let correction: String
    /// The remedy for a finding.
    public let help: String
    /// Cases that the rule misses, and findings that can be wrong.
    public let limits: String
    /// Whether the rule is on without a profile.
    public let isOnByDefault: Bool
    /// The profile that enables it; nil for a rule that is on by default, or only through `rules`.
    public let profile: LintProfile?
    /// The default severity of its findings.
    public let severity: Severity
    /// The roles of the layers to check; empty for all files.
    package let roles: Set<LayerRole>

    package init(
        _ id: String,
        _ summary: String,
        reason: String,
        violation: String,
        correction: String,
        help: String,
        limits: String,
        isOnByDefault: Bool = false,
        profile: LintProfile? = nil,
        severity: Severity = .error,
        roles: Set<LayerRole> = []
    ) {
        self.id = id
        self.summary = summary
        self.reason = reason
        self.violation = violation
        self.correction = correction
        self.help = help
        self.limits = limits
        self.isOnByDefault = isOnByDefault
        self.profile = profile
        self.severity = severity
        self.roles = roles
    }

    /// All of the above as text, for a terminal.
    public var explanation: String {
        """
        \(id): \(summary)

        Why: \(reason)

        Found:
        \(Self.indented(violation))

        Right:
        \(Self.indented(correction))

        What to do: \(help)
        Limits: \(limits)
        On: \(start)\
        \(roles.isEmpty ? "" : " It checks layers with the role \(roles.map(\.rawValue).sorted().joined(separator: ", ")).")

        """
    }

    private var start: String {
        if isOnByDefault { return "always; `rules: {\(id): off}` disables it." }
        let name = "`rules: {\(id): on}`"
        return profile.map { "with the profile `\($0.rawValue)`, or with \(name)." }
            ?? "with \(name) only."
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
            .joined(separator: "\n")
    }
}
