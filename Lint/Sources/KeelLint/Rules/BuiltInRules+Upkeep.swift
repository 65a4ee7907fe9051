extension BuiltInRules {
    /// The rules about the linter's own comments, baseline and configuration.
    static let upkeep = [
        RuleDescription(
            "allow-reason",
            "Who allows a finding says why.",
            reason: "The next reader cannot tell an exception from a mistake without a reason.",
            violation: "import Alamofire  // keel:allow(vendor-modules)",
            correction:
                """
                import Alamofire  // keel:allow(vendor-modules) the share extension has no \
                adapter
                """,
            help: "Write the reason after the bracket.",
            limits: "It does not judge the reason.",
            isOnByDefault: true
        ),
        RuleDescription(
            "stale-allow",
            "A comment that allows something allows something.",
            reason: "An allow that outlives its finding would hide the next one.",
            violation: "// keel:allow(ambient-effects) the clock of the demo\nlet answer = 42",
            correction: "let answer = 42",
            help: "Remove the comment, or name a rule that exists.",
            limits: "An allow for a rule that is switched off counts as stale too.",
            isOnByDefault: true,
            severity: .warning
        ),
        RuleDescription(
            "stale-baseline",
            "What the baseline lists is still found.",
            reason: "A line that nothing matches would hide the same fault when it comes back.",
            violation: "layers Sources/A.swift import B   # nobody imports B any more",
            correction: "# the line is gone",
            help: "Run `keel-lint --prune-baseline`.",
            limits: "It compares rule, file and symbol.",
            isOnByDefault: true,
            severity: .warning
        ),
        RuleDescription(
            "matches-nothing",
            "Whatever the configuration names is there.",
            reason: "A rule that matches no file holds for ever and says nothing.",
            violation: "- name: Domain\n  paths: [Source/Domain]   # the folder is called Sources",
            correction: "- name: Domain\n  paths: [Sources/Domain]",
            help: "Correct the name, or remove it.",
            limits:
                "Modules from outside need not be imported: that they are not may be the point.",
            isOnByDefault: true
        ),
    ]
}
