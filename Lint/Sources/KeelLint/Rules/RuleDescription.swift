/// A rule that is built in, as it explains itself.
public struct RuleDescription: Sendable, Hashable {
    /// What configurations, findings and `keel:allow` call it.
    public let id: String
    /// What it demands, in one sentence.
    public let summary: String
    /// Why, for somebody who sees it for the first time.
    public let reason: String
    /// Code that it finds.
    public let bad: String
    /// The same done right.
    public let good: String
    /// What to do about a finding.
    public let help: String
    /// What it cannot see, or mistakes.
    public let limits: String
    /// Whether it runs unless it is switched off.
    public let isOnByDefault: Bool
    /// The profile that switches it on; nil for a rule that always runs, or that `rules` must name.
    public let profile: LintProfile?
    /// How much its findings matter unless the configuration says otherwise.
    public let severity: Severity
    /// The roles of the layers it looks at; empty for all files.
    package let roles: Set<LayerRole>

    package init(
        _ id: String,
        _ summary: String,
        reason: String,
        bad: String,
        good: String,
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
        self.bad = bad
        self.good = good
        self.help = help
        self.limits = limits
        self.isOnByDefault = isOnByDefault
        self.profile = profile
        self.severity = severity
        self.roles = roles
    }

    /// Everything about the rule, for a terminal.
    public var explanation: String {
        """
        \(id): \(summary)

        Why: \(reason)

        Found:
        \(Self.indented(bad))

        Right:
        \(Self.indented(good))

        What to do: \(help)
        Limits: \(limits)
        On: \(start)\
        \(roles.isEmpty ? "" : " It looks at layers of the role \(roles.map(\.rawValue).sorted().joined(separator: ", ")).")

        """
    }

    /// What switches it on.
    private var start: String {
        if isOnByDefault { return "always; `rules: {\(id): off}` switches it off." }
        let name = "`rules: {\(id): on}`"
        return profile.map { "with the profile `\($0.rawValue)`, or with \(name)." }
            ?? "with \(name) only."
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
            .joined(separator: "\n")
    }
}
