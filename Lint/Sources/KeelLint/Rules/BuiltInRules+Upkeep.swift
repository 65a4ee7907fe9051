extension BuiltInRules {
    /// The rules about the linter's own comments, baseline and configuration.
    static let upkeep = [
        RuleDescription(
            "allow-reason",
            "An allowed finding has a reason.",
            reason:
                "Without a reason, the next reader cannot distinguish an exception from a mistake.",
            violation: "import Alamofire  // keel:allow(vendor-modules)",
            correction:
                """
                import Alamofire  // keel:allow(vendor-modules) the share extension has no \
                adapter
                """,
            help: "Write the reason after the parenthesis.",
            limits: "It does not judge the reason.",
            isOnByDefault: true
        ),
        RuleDescription(
            "stale-allow",
            "An allow comment has an effect.",
            reason: "An allow that outlives its finding would hide the next one.",
            violation: "// keel:allow(ambient-effects) the clock of the demo\nlet answer = 42",
            correction: "let answer = 42",
            help: "Remove the comment, or name a rule that exists.",
            limits: "An allow for a disabled rule also counts as stale.",
            isOnByDefault: true,
            severity: .warning
        ),
        RuleDescription(
            "stale-baseline",
            "Every finding in the baseline still exists.",
            reason: "A line without a finding would hide the same fault when it returns.",
            violation: "layers Sources/A.swift import B   # A no longer imports B",
            correction: "# the line is gone",
            help: "Run `keel-lint --prune-baseline`.",
            limits: "It compares rule, file and symbol.",
            isOnByDefault: true,
            severity: .warning
        ),
        RuleDescription(
            "matches-nothing",
            "Each layer, contract, package and naming rule of the configuration matches a file.",
            reason: "A rule that matches no file always holds, and checks nothing.",
            violation: "- name: Domain\n  paths: [Source/Domain]   # the folder is called Sources",
            correction: "- name: Domain\n  paths: [Sources/Domain]",
            help: "Correct the name, or remove it.",
            limits:
                """
                External modules need not be imported: forbidding them may be the point. Other \
                patterns, such as those of `exclude`, `allow` and `also`, are not checked.
                """,
            isOnByDefault: true
        ),
    ]
}
