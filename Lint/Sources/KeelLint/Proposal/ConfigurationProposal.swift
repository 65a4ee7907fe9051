/// A configuration made from the names that a project has.
package struct ConfigurationProposal: Sendable {
    package let configuration: LintConfiguration
    /// How it says what each layer was found by.
    private let found: [(layer: Layer, count: Int)]

    package init(_ loaded: ProjectLoader.Loaded) {
        var layers = Self.layersOfTargets(loaded.files)
        if layers.count < 2 { layers = Self.layersOfFolders(loaded.files) }
        layers = layers.map { layer in
            var layer = layer
            layer.uses = layer.role.flatMap { Self.uses(of: $0, among: layers) }
            return layer
        }
        var configuration = LintConfiguration()
        configuration.isProposed = true
        configuration.layers = layers
        let names = Set(loaded.files.flatMap { $0.facts.declarations.map(\.name) })
        if names.contains(where: { Glob("Net[A-Z]*").matches(name: $0) }),
            names.contains(where: { $0.hasSuffix("Endpoint") })
        {
            configuration.profile = .infrastructure
        } else if names.contains(where: { $0.hasSuffix("RepositoryImpl") }) {
            configuration.profile = .dataLayer
        }
        configuration.transferObjects = configuration.profile.transferObjects
        self.configuration = configuration
        found = layers.map { layer in (layer, loaded.files.count { !$0.isTest && layer.has($0) }) }
    }

    /// Layers whose names targets have; several targets of one role are one layer.
    private static func layersOfTargets(_ files: [SourceFile]) -> [Layer] {
        var targets: [LayerRole: Set<String>] = [:]
        for file in files where !file.isTest {
            guard let target = file.target, let role = LayerRole.named(target) else { continue }
            targets[role, default: []].insert(target)
        }
        return LayerRole.allCases.compactMap { role in
            targets[role].map { names in
                var layer = Layer(name: title(role), role: role)
                layer.targets = names.sorted().map { Glob($0) }
                return layer
            }
        }
    }

    /// Layers whose names folders have: the topmost folder of each path that has one.
    private static func layersOfFolders(_ files: [SourceFile]) -> [Layer] {
        var folders: [LayerRole: Set<String>] = [:]
        for file in files where !file.isTest {
            let parts = file.path.split(separator: "/").dropLast()
            for (depth, part) in parts.enumerated() {
                // The first folder is often called like the app.
                guard let role = role(ofFolder: part, depth: depth, count: parts.count) else {
                    continue
                }
                folders[role, default: []].insert(parts.prefix(depth + 1).joined(separator: "/"))
                break
            }
        }
        return LayerRole.allCases.compactMap { role in
            folders[role].map { paths in
                var layer = Layer(name: title(role), role: role)
                layer.paths = paths.sorted().map { Glob($0) }
                return layer
            }
        }
    }

    private static func role(ofFolder name: Substring, depth: Int, count: Int) -> LayerRole? {
        let plain: [LayerRole: Set<String>] = [
            .domain: ["domain"], .data: ["data"], .infrastructure: ["infrastructure"],
            .presentation: ["presentation", "features", "ui", "views"],
            .composition: ["app", "composition", "application", "di"],
            .shared: ["common", "shared"],
        ]
        return plain.first { $0.value.contains(name.lowercased()) }?.key
    }

    private static func title(_ role: LayerRole) -> String {
        switch role {
        case .domain: "Domain"
        case .data: "Data"
        case .infrastructure: "Infrastructure"
        case .presentation: "Presentation"
        case .composition: "App"
        case .shared: "Shared"
        }
    }

    /// The directions of the documents; nil for everything.
    private static func uses(of role: LayerRole, among layers: [Layer]) -> Set<String>? {
        let wanted: Set<LayerRole> =
            switch role {
            case .domain: [.shared]
            case .data: [.domain, .infrastructure, .shared]
            case .infrastructure: [.shared]
            case .presentation: [.domain, .shared]
            case .shared: []
            case .composition: Set(LayerRole.allCases)
            }
        if role == .composition { return nil }
        return Set(layers.filter { $0.role.map(wanted.contains) ?? false }.map(\.name))
    }

    /// The configuration as a file holds it.
    package var text: String {
        var lines = [
            """
            # What keel-lint checks here. Every key: Documentation/Lint.md of Keel; a rule: \
            keel-lint --explain RULE.
            """,
            "version: 1",
        ]
        if configuration.profile != .none {
            lines += [
                "# Names and places as the document on this layer has them.",
                "profile: \(configuration.profile.rawValue)",
            ]
        }
        lines += [
            "",
            """
            # From the names found here. `uses` says which layers each may use; `any` is all \
            of them.
            """,
        ]
        if configuration.layers.isEmpty {
            lines += [
                "# No folder or target is called like a layer. An example:",
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
        lines += [
            "", "contracts:", "  - name: no-circles", "    type: acyclic",
            "    between: \(configuration.layers.count > 1 ? "layers" : "targets")",
            "", "# The built-in rules are on; switch one off with `rule: off`, or tune it.",
            "rules: {}", "",
        ]
        return lines.joined(separator: "\n")
    }

    private func list(_ globs: [Glob]) -> String {
        globs.map { $0.pattern.contains(" ") ? "\"\($0)\"" : $0.pattern }.joined(separator: ", ")
    }
}
