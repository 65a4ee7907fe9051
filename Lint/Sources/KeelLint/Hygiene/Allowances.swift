struct Allowances {
    let project: Project

    /// Removes allowed findings, and adds those about the comments.
    func applied(to findings: [Finding]) -> (kept: [Finding], allowed: Int) {
        let rules = Set(BuiltInRules.all.map(\.id) + project.configuration.contracts.map(\.name))
        var byFile: [String: [Finding]] = Dictionary(grouping: findings, by: \.file)
        var allowed = 0
        var problems: [Finding] = []
        for file in project.files where !file.facts.allows.isEmpty {
            for allow in file.facts.allows {
                let problem = problem(with: allow, in: file, rules)
                if let problem { problems.append(problem) }
                // A comment without a reason has no effect.
                guard !allow.reason.isEmpty else { continue }
                for rule in allow.rules where rules.contains(rule) {
                    let before = byFile[file.path]?.count ?? 0
                    byFile[file.path]?.removeAll { finding in
                        finding.rule == rule
                            && (allow.isForFile
                                || finding.line >= Int(allow.line)
                                    && finding.line <= Int(allow.lastLine))
                    }
                    let removed = before - (byFile[file.path]?.count ?? 0)
                    allowed += removed
                    if removed == 0 {
                        problems.append(
                            Finding(
                                "stale-allow",
                                in: file,
                                at: allow.place,
                                symbol: "keel:allow(\(rule))",
                                """
                                Nothing here breaks \
                                `\(rule)`\(allow.isForFile ? "" : " in line \(allow.line)").
                                """,
                                help: "Remove the comment."
                            )
                        )
                    }
                }
            }
        }
        return (byFile.values.flatMap { $0 } + problems.filter(isOn), allowed)
    }

    private func isOn(_ finding: Finding) -> Bool {
        project.configuration.setting(finding.rule).isOn ?? true
    }

    private func problem(
        with allow: AllowFact,
        in file: SourceFile,
        _ rules: Set<String>
    ) -> Finding? {
        if allow.reason.isEmpty {
            return Finding(
                "allow-reason",
                in: file,
                at: allow.place,
                symbol: "keel:allow(\(allow.rules.joined(separator: ", ")))",
                "This allow has no reason, and therefore no effect.",
                help: "Write the reason after the parenthesis: `keel:allow(rule) reason`."
            )
        }
        let unknown = allow.rules.filter { !rules.contains($0) }
        guard allow.rules.isEmpty || !unknown.isEmpty else { return nil }
        let near = unknown.first.flatMap { word in
            rules.min { EditDistance.between($0, word) < EditDistance.between($1, word) }
        }
        return Finding(
            "stale-allow",
            in: file,
            at: allow.place,
            symbol: "keel:allow(\(unknown.joined(separator: ", ")))",
            unknown.isEmpty
                ? "This allow names no rule."
                : "There is no rule or contract `\(unknown.joined(separator: "`, `"))`.",
            help: near.map { "Did you mean `\($0)`?" } ?? "Write the rule between the parentheses."
        )
    }
}
