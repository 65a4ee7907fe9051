struct CycleChecker {
    let project: Project

    func findings() -> [Finding] {
        let configuration = project.configuration
        guard configuration.layers.count > 1, configuration.setting("cycles").isOn ?? true,
            !configuration.contracts.contains(where: \.isAboutCirclesOfLayers)
        else { return [] }
        let uses = Dictionary(
            configuration.layers.map { ($0.name, $0.uses) },
            uniquingKeysWith: { first, _ in first }
        )
        var graph = UseGraph(project) { file in
            file.layer.map { configuration.layers[$0].name }
        }
        // Uses that `layers` forbids are reported there, and resolving them breaks the cycle.
        graph.keepEdges { from, to in
            uses[from].map { allowed in allowed?.contains(to) ?? true } ?? false
        }
        return graph.circles().compactMap { circle in
            guard let first = circle.first, let last = circle.last else { return nil }
            let names = [last.to] + circle.map(\.to)
            return Finding(
                "cycles",
                in: project.files[first.use.file],
                at: first.use.place,
                symbol: names.joined(separator: " → "),
                "\(names.joined(separator: " → ")): these layers form a cycle.",
                help: BuiltInRules.named("cycles")?.help ?? "",
                path: project.path(circle.map { ($0.to, $0.use) }, from: last.to)
            )
        }
    }
}

extension Contract {
    fileprivate var isAboutCirclesOfLayers: Bool {
        if case .acyclic(.layers) = kind { return true }
        return false
    }
}
