struct LayerChecker {
    let project: Project

    private var layers: [Layer] { project.configuration.layers }

    func findings() -> [Finding] {
        let setting = project.configuration.setting("layers")
        guard !layers.isEmpty, setting.isOn ?? true else { return [] }
        let names = Set(layers.map(\.name))
        // A mark distinguishes the names of other parts from those of layers.
        let graph = UseGraph(project) { file in
            if let layer = file.layer { return layers[layer].name }
            return "\u{1}"
                + (file.target ?? (file.folder.isEmpty ? file.path : String(file.folder)))
        }
        var found: [Finding] = []
        var direct: Set<[String]> = []
        var seen: Set<[String]> = []
        for (use, from, to) in graph.crossings {
            guard let layer = layers.first(where: { $0.name == from }) else { continue }
            if names.contains(to) {
                guard let uses = layer.uses, !uses.contains(to) else { continue }
                direct.insert([from, to])
                guard seen.insert([String(use.file), use.symbol, use.shown]).inserted else {
                    continue
                }
                found.append(finding(use, "\(from) uses \(use.shown) of \(to)", layer))
            } else if to.hasPrefix(UseGraph.outside), let modules = layer.modules {
                let module = String(to.dropFirst(UseGraph.outside.count))
                guard !modules.contains(where: { $0.matches(name: module) }),
                    !Self.alwaysThere.contains(module),
                    seen.insert([String(use.file), use.symbol]).inserted
                else { continue }
                found.append(
                    Finding(
                        "layers",
                        in: project.files[use.file],
                        at: use.place,
                        symbol: use.symbol,
                        "\(from) imports `\(module)`, which is not among its modules.",
                        help: "Its modules are: \(modules.map(\.pattern).joined(separator: ", "))."
                    )
                )
            }
        }
        return setting.isTransitive ? found + indirect(graph, names, direct) : found
    }

    /// Modules that come with the language.
    private static let alwaysThere: Set<String> = ["Swift", "_Concurrency", "_StringProcessing"]

    private func indirect(
        _ graph: UseGraph,
        _ names: Set<String>,
        _ direct: Set<[String]>
    ) -> [Finding] {
        var found: [Finding] = []
        for layer in layers {
            guard let uses = layer.uses else { continue }
            for end in names.sorted() where end != layer.name && !uses.contains(end) {
                guard !direct.contains([layer.name, end]),
                    let way = graph.way(
                        from: layer.name,
                        to: { $0 == end },
                        over: { $0.hasPrefix("\u{1}") }
                    ), let first = way.first
                else { continue }
                let shown = way.map { step in
                    (step.to.hasPrefix("\u{1}") ? String(step.to.dropFirst()) : step.to, step.use)
                }
                let names = [layer.name] + shown.map(\.0)
                found.append(
                    Finding(
                        "layers",
                        in: project.files[first.use.file],
                        at: first.use.place,
                        symbol: names.joined(separator: " → "),
                        """
                        \(layer.name) reaches \(end), which it may not use: \
                        \(names.joined(separator: " → ")).
                        """,
                        help: help(layer),
                        path: project.path(shown, from: layer.name)
                    )
                )
            }
        }
        return found
    }

    private func finding(_ use: Project.Use, _ message: String, _ layer: Layer) -> Finding {
        Finding(
            "layers",
            in: project.files[use.file],
            at: use.place,
            symbol: use.symbol,
            message + ", which it may not use.",
            help: help(layer)
        )
    }

    private func help(_ layer: Layer) -> String {
        let uses = (layer.uses ?? []).sorted()
        return uses.isEmpty
            ? """
            \(layer.name) may use no other layer: move the code, pass a plain value, or \
            declare a protocol in \(layer.name).
            """
            : """
            \(layer.name) may use \(uses.joined(separator: ", ")): move the code, or declare \
            a protocol there.
            """
    }
}
