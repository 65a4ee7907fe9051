/// Finds names in the configuration that match nothing in the project.
struct EmptyMatches {
    let project: Project
    /// The packages within the project that belong to it.
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
        for layer in configuration.layers {
            for glob in layer.paths
            where !project.files.contains(where: { glob.matches(path: $0.path) }) {
                found.append(
                    finding(
                        layer.line,
                        "layer \(layer.name)",
                        "The path `\(glob)` of the layer \(layer.name)"
                    )
                )
            }
            for glob in layer.targets
            where !project.targets.contains(where: { glob.matches(name: $0) }) {
                found.append(
                    finding(
                        layer.line,
                        "layer \(layer.name)",
                        "The target `\(glob)` of the layer \(layer.name)"
                    )
                )
            }
        }
        for contract in configuration.contracts {
            for (selector, mayBeModule) in selectors(of: contract)
            where !matches(selector, mayBeModule) {
                found.append(
                    finding(
                        selector.line,
                        "contract \(contract.name)",
                        "`\(selector.glob)` of the contract `\(contract.name)`"
                    )
                )
            }
            if case .acyclic(.folders(let parent)) = contract.kind,
                !project.files.contains(where: { $0.path.hasPrefix(parent + "/") })
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
            for glob in rule.files
            where !project.files.contains(where: { glob.matches(path: $0.path) }) {
                found.append(
                    finding(rule.line, "naming \(glob)", "The files `\(glob)` of a naming rule")
                )
            }
            for glob in rule.types where !hasType(glob) {
                found.append(
                    finding(rule.line, "naming \(glob)", "The types `\(glob)` of a naming rule")
                )
            }
        }
        return found
    }

    private func hasType(_ glob: Glob) -> Bool {
        project.files.contains { file in
            file.facts.declarations.contains { $0.kind.isType && glob.matches(name: $0.name) }
        }
    }

    /// The selectors of a contract, and whether each may match an external module.
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
        if selector.kind == .module || selector.kind == .any && mayBeModule { return true }
        return project.files.contains { selector.has($0, in: project) }
    }

    private func finding(_ line: Int, _ symbol: String, _ what: String) -> Finding {
        Finding(
            rule: "matches-nothing",
            file: configuration.file,
            line: line,
            column: 1,
            symbol: symbol,
            message: "\(what) matches nothing.",
            help: "Correct the name, or remove it."
        )
    }
}
