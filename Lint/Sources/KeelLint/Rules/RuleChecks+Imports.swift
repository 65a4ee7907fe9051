extension RuleCheck {
    mutating func checkDomainImports() {
        for file in files {
            for fact in file.facts.imports
            where isListed(fact.module, KnownModules.infrastructure)
                && !project.targets.contains(fact.module)
            {
                report(
                    file,
                    fact.place,
                    "import \(fact.module)",
                    """
                    The domain imports \
                    `\(fact.module)`\(fact.isConditional ? " (inside #if)" : "").
                    """
                )
            }
        }
    }

    mutating func checkVendorModules() {
        let hasAdapters = project.configuration.layers.contains { $0.role == .infrastructure }
        for file in files {
            let role = project.role(of: file)
            if setting.layers == nil, role == .data, !hasAdapters { continue }
            for fact in file.facts.imports
            where isListed(fact.module, KnownModules.vendors)
                && !project.targets.contains(fact.module)
                && !(role == .presentation && isForViews(fact.module))
            {
                report(
                    file,
                    fact.place,
                    "import \(fact.module)",
                    """
                    `\(fact.module)` is imported outside of the \
                    adapters\(fact.isConditional ? " (inside #if)" : "").
                    """
                )
            }
        }
    }

    /// Whether views may import a module, unless the configuration says otherwise.
    private func isForViews(_ module: String) -> Bool {
        KnownModules.interfaces.contains { $0.matches(name: module) }
            && !setting.also.contains { $0.matches(name: module) }
    }

    mutating func checkVendorExports() {
        for file in files {
            for fact in file.facts.imports where isListed(fact.module, KnownModules.vendors) {
                guard !project.targets.contains(fact.module) else { continue }
                if fact.attributes.contains(.exported) {
                    report(
                        file,
                        fact.place,
                        "import \(fact.module)",
                        "`\(fact.module)` is exported to everyone who imports this module."
                    )
                } else if let access = fact.access, access >= .public {
                    report(
                        file,
                        fact.place,
                        "import \(fact.module)",
                        """
                        `public import \(fact.module)` shows the vendor in the interface of \
                        this module.
                        """
                    )
                }
            }
        }
    }
}
