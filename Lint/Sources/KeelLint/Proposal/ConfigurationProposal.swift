package struct ConfigurationProposal: Sendable {
    package let configuration: LintConfiguration
    private let found: [(layer: Layer, count: Int)]

    package init(_ loaded: ProjectLoader.Loaded) {
        let guess = LayerGuess(loaded.files)
        var configuration = LintConfiguration()
        configuration.isProposed = true
        configuration.layers = guess.layers
        if !guess.isComplete {
            // Code outside of all layers may use everything and be used by everything.
            var setting = RuleSetting()
            setting.isTransitive = false
            configuration.rules["layers"] = setting
        }
        self.configuration = configuration
        var counts = Array(repeating: 0, count: guess.layers.count)
        for file in loaded.files where !file.isTest {
            if let position = guess.layers.firstIndex(where: { $0.has(file) }) {
                counts[position] += 1
            }
        }
        found = zip(guess.layers, counts).map { ($0, $1) }
    }

    package var text: String {
        var lines = [
            """
            # What keel-lint checks here. Every key: Documentation/Lint.md of Keel; a rule: \
            keel-lint --explain RULE.
            """,
            "version: 1",
            "",
            """
            # Layers and cycles are always checked. Further rules come in sets; these and others: \
            keel-lint --rules.
            """,
            "# profiles: [\(Self.profiles)]",
            "",
            """
            # From the names found here. `uses` says which layers each may use; `any` is all \
            of them.
            """,
        ]
        if configuration.layers.isEmpty {
            lines += [
                "# The names of folders and targets do not indicate several layers. An example:",
                "#   - name: Domain", "#     paths: [Sources/App/Domain]", "#     uses: []",
                "layers: []",
            ]
        } else {
            lines.append("layers:")
        }
        for (layer, count) in found {
            lines.append("  - name: \(layer.name)  # \(count) \(count == 1 ? "file" : "files")")
            if let role = layer.role, LayerRole.named(layer.name) != role {
                lines.append("    role: \(role.rawValue)")
            }
            if !layer.targets.isEmpty { lines.append("    targets: [\(list(layer.targets))]") }
            if !layer.paths.isEmpty { lines.append("    paths: [\(list(layer.paths))]") }
            let uses = layer.uses.map { $0.sorted().joined(separator: ", ") } ?? "any"
            lines.append("    uses: [\(uses)]")
        }
        lines += ["", "# Switch a rule off with `rule: off`, or tune it."]
        if !configuration.setting("layers").isTransitive {
            lines += [
                "rules:",
                "  # Some files are in no layer; without this line, ways over them count.",
                "  layers: {transitive: false}",
            ]
        } else {
            lines.append("rules: {}")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let profiles = [
        LintProfile.cleanArchitecture, .dataLayer, .services,
    ].map(\.rawValue).joined(separator: ", ")

    private func list(_ globs: [Glob]) -> String {
        globs.map { glob in
            glob.pattern.contains { !$0.isLetter && !$0.isNumber && $0 != "/" && $0 != "_" }
                ? "\"\(glob.pattern)\"" : glob.pattern
        }
        .joined(separator: ", ")
    }
}
