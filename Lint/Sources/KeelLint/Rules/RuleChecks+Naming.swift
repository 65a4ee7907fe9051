extension RuleCheck {
    mutating func checkNaming() {
        for rule in project.configuration.naming {
            for file in project.files where !file.isTest && project.isChecked(file) {
                if !rule.roles.isEmpty {
                    guard let role = project.role(of: file), rule.roles.contains(role) else {
                        continue
                    }
                }
                if rule.types.isEmpty {
                    check(file, rule)
                } else {
                    checkTypes(of: file, rule)
                }
            }
        }
    }

    private mutating func check(_ file: SourceFile, _ rule: NamingRule) {
        guard rule.files.contains(where: { $0.matches(path: file.path) }),
            !allows(String(file.name))
        else { return }
        if let problem = problem(with: file, nil, rule) {
            report(file, .start, "-", problem, help: help(rule))
        }
    }

    private mutating func checkTypes(of file: SourceFile, _ rule: NamingRule) {
        for declaration in file.facts.declarations
        where declaration.kind.isType && declaration.parent < 0 {
            guard rule.types.contains(where: { $0.matches(name: declaration.name) }),
                rule.kinds.isEmpty || rule.kinds.contains(declaration.kind),
                !allows(declaration.name),
                let problem = problem(with: file, declaration, rule)
            else { continue }
            report(file, declaration.place, declaration.name, problem, help: help(rule))
        }
    }

    private func help(_ rule: NamingRule) -> String {
        rule.because.isEmpty
            ? self.rule.help
            : rule.because.prefix(1).uppercased() + String(rule.because.dropFirst()) + "."
    }

    private func problem(
        with file: SourceFile,
        _ declaration: DeclarationFact?,
        _ rule: NamingRule
    ) -> String? {
        let shown =
            declaration.map { "The \($0.kind.word) `\($0.name)`" } ?? "The file `\(file.name)`"
        if let declaration, !rule.named.isEmpty,
            !rule.named.contains(where: { $0.matches(name: declaration.name) })
        {
            return
                """
                \(shown) should be called \
                \(rule.named.map { "`\($0)`" }.joined(separator: " or ")).
                """
        }
        // A role without a layer cannot be required.
        let roles = rule.placedInRoles.filter { role in
            project.configuration.layers.contains { $0.role == role }
        }
        if !roles.isEmpty, project.role(of: file).map({ !roles.contains($0) }) ?? true {
            let layers = project.configuration.layers.filter {
                $0.role.map(roles.contains) ?? false
            }
            return "\(shown) should be in \(layers.map(\.name).joined(separator: " or "))."
        }
        if !rule.placedIn.isEmpty, !rule.placedIn.contains(where: { $0.matches(path: file.path) }) {
            return
                """
                \(shown) should be in \
                \(rule.placedIn.map { "`\($0)`" }.joined(separator: " or ")).
                """
        }
        guard !rule.fileNamed.isEmpty else { return nil }
        let names = rule.fileNamed.map { pattern in
            declaration.map {
                pattern.replacing("{name}", with: $0.name, maxReplacements: 1)
            } ?? pattern
        }
        guard !names.contains(where: { Glob($0).matches(name: String(file.name)) }) else {
            return nil
        }
        return declaration == nil
            ? "\(shown) should be called \(names.map { "`\($0)`" }.joined(separator: " or "))."
            : """
            \(shown) should be in a file called \
            \(names.map { "`\($0)`" }.joined(separator: " or ")).
            """
    }
}
