struct EmptyMatches {
    let project: Project
    let packages: [String]

    private var configuration: LintConfiguration { project.configuration }

    func findings() -> [Finding] {
        guard !configuration.isProposed, configuration.setting("matches-nothing").isOn ?? true
        else {
            return []
        }
        var found: [Finding] = []
        for glob in configuration.packages ?? []
        where !packages.contains(where: { glob.matches(path: $0) }) {
            found.append(finding(1, "package \(glob)", "The package `\(glob)`"))
        }
        for (position, layer) in configuration.layers.enumerated() {
            found += layer.paths.compactMap { glob in
                unmatched("path `\(glob)`", of: position) { glob.matches(path: $0.path) }
            }
            found += layer.targets.compactMap { glob in
                unmatched("target `\(glob)`", of: position) { file in
                    file.target.map { glob.matches(name: $0) } ?? false
                }
            }
        }
        for contract in configuration.contracts {
            for (selector, mayBeModule) in selectors(of: contract)
            where !matches(selector, mayBeModule) {
                var result = finding(
                    selector.line,
                    "contract \(contract.name)",
                    "`\(selector.glob)` of the contract `\(contract.name)`"
                )
                if selector.kind == .module {
                    result.help = "Only `to` and `modules` can name external modules."
                }
                found.append(result)
            }
            if case .acyclic(.folders(let parent)) = contract.kind,
                !hasSource({ $0.path.hasPrefix(parent + "/") })
            {
                found.append(
                    finding(
                        contract.line,
                        "contract \(contract.name)",
                        "The folder `\(parent)` of the contract `\(contract.name)`"
                    )
                )
            }
        }
        for rule in configuration.naming where rule.line > 1 {
            if !rule.roles.isEmpty,
                rule.roles.isDisjoint(with: configuration.layers.compactMap(\.role))
            {
                let roles = rule.roles.map(\.rawValue).sorted().joined(separator: ", ")
                found.append(
                    finding(rule.line, "naming \(roles)", "`roles: [\(roles)]` of a naming rule")
                )
            }
            for glob in rule.files where !hasSource({ glob.matches(path: $0.path) }) {
                found.append(
                    finding(rule.line, "naming \(glob)", "The files `\(glob)` of a naming rule")
                )
            }
            for glob in rule.types where !hasType(glob, rule) {
                var result = finding(
                    rule.line,
                    "naming \(glob)",
                    "The types `\(glob)` of a naming rule"
                )
                result.help = "Correct the name or `kinds`; tests and nested types do not count."
                found.append(result)
            }
        }
        return found
    }

    private func unmatched(
        _ pattern: String,
        of position: Int,
        _ isMatch: (SourceFile) -> Bool
    ) -> Finding? {
        guard !project.files.contains(where: { $0.layer == position && isMatch($0) }) else {
            return nil
        }
        let layer = configuration.layers[position]
        let what = "The \(pattern) of the layer \(layer.name)"
        var result = finding(layer.line, "layer \(layer.name)", what)
        if hasSource(isMatch) {
            result.message = "\(what) matches only files of layers before it."
            result.help = "A file belongs to the first layer that matches it: move this layer up."
        }
        return result
    }

    private func hasType(_ glob: Glob, _ rule: NamingRule) -> Bool {
        // With `named`, it may be the point that only other kinds have the name.
        let kinds = rule.named.isEmpty ? rule.kinds : []
        return hasSource { file in
            file.facts.declarations.contains {
                $0.kind.isType && $0.parent < 0 && (kinds.isEmpty || kinds.contains($0.kind))
                    && glob.matches(name: $0.name)
            }
        }
    }

    /// The selectors, and whether each may match an external module.
    private func selectors(of contract: Contract) -> [(Selector, Bool)] {
        switch contract.kind {
        case .forbidden(let from, let to): from.map { ($0, false) } + to.map { ($0, true) }
        case .protected(let modules, let users):
            modules.map { ($0, true) } + users.map { ($0, false) }
        case .independent(let members): members.map { ($0, false) }
        case .acyclic(.members(let members)): members.map { ($0, false) }
        case .acyclic: []
        }
    }

    private func matches(_ selector: Selector, _ mayBeModule: Bool) -> Bool {
        if mayBeModule, selector.kind == .module || selector.kind == .any { return true }
        return hasSource { selector.has($0, in: project) }
    }

    private func hasSource(_ isMatch: (SourceFile) -> Bool) -> Bool {
        project.files.contains { !$0.isTest && isMatch($0) }
    }

    private func finding(_ line: Int, _ symbol: String, _ what: String) -> Finding {
        Finding(
            rule: "matches-nothing",
            file: configuration.file,
            line: line,
            column: 1,
            symbol: symbol,
            message: "\(what) matches nothing.",
            help: "Correct the name, or remove it; tests do not count."
        )
    }
}
