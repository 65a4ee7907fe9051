/// The parts of a project and the uses between them.
package struct LayerDrawing: Sendable {
    package struct Part: Sendable, Hashable {
        package let name: String
        package let role: LayerRole?
        package let isLayer: Bool
        package let fileCount: Int
        package let lineHint: String
    }

    package struct Arrow: Sendable, Hashable {
        package let from: String
        package let to: String
        package let count: Int
        package let isBroken: Bool
    }

    package let parts: [Part]
    package let arrows: [Arrow]

    /// The part of a file is its layer, or else its target, or else its top-level folder.
    package init(_ report: LintReport) {
        let project = report.project
        let layers = project.configuration.layers
        func part(_ file: SourceFile) -> String? {
            guard !file.isTest else { return nil }
            if let layer = file.layer { return layers[layer].name }
            if let target = file.target { return target }
            return file.path.contains("/")
                ? file.path.split(separator: "/").first.map(String.init) : "(top)"
        }
        let graph = UseGraph(project, part: part)
        var counts: [String: Int] = [:]
        for case let part? in graph.parts { counts[part, default: 0] += 1 }
        let names = layers.map(\.name)
        parts = counts.keys.sorted { left, right in
            let places = (names.firstIndex(of: left) ?? .max, names.firstIndex(of: right) ?? .max)
            return places.0 == places.1 ? left < right : places.0 < places.1
        }
        .map { name in
            let layer = layers.first { $0.name == name }
            let globs = (layer?.targets ?? []) + (layer?.paths ?? [])
            return Part(
                name: name,
                role: layer?.role,
                isLayer: layer != nil,
                fileCount: counts[name] ?? 0,
                lineHint: globs.map(\.pattern).joined(separator: ", ")
            )
        }
        var uses: [String: Int] = [:]
        for (_, from, to) in graph.crossings where !to.hasPrefix(UseGraph.outside) {
            uses["\(from)\u{0}\(to)", default: 0] += 1
        }
        arrows = uses.sorted { $0.key < $1.key }.map { key, count in
            let ends = key.split(separator: "\u{0}").map(String.init)
            let layer = layers.first { $0.name == ends[0] }
            let mayUse =
                layer?.uses.map { !names.contains(ends[1]) || $0.contains(ends[1]) } ?? true
            return Arrow(from: ends[0], to: ends[1], count: count, isBroken: !mayUse)
        }
    }
}

package enum GraphText: Sendable {
    package static func mermaid(_ drawing: LayerDrawing) -> String {
        var lines = ["flowchart TD"]
        let ids = identifiers(drawing)
        for part in drawing.parts {
            let files = "\(part.fileCount) \(part.fileCount == 1 ? "file" : "files")"
            lines.append("    \(ids[part.name] ?? "")[\"\(quoted(part.name))<br/>\(files)\"]")
        }
        var broken: [Int] = []
        for (position, arrow) in drawing.arrows.enumerated() {
            lines.append("    \(ids[arrow.from] ?? "") -->|\(arrow.count)| \(ids[arrow.to] ?? "")")
            if arrow.isBroken { broken.append(position) }
        }
        if !broken.isEmpty {
            lines.append(
                """
                    linkStyle \(broken.map(String.init).joined(separator: ",")) \
                stroke:#c62828,stroke-width:3px
                """
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    package static func dot(_ drawing: LayerDrawing) -> String {
        var lines = [
            "digraph layers {", "    node [shape=box, style=rounded, fontname=\"Helvetica\"];",
        ]
        for part in drawing.parts {
            lines.append(
                """
                    \"\(escaped(part.name))\" \
                [label=\"\(escaped(part.name))\\n\(part.fileCount) \
                \(part.fileCount == 1 ? "file" : "files")\"];
                """
            )
        }
        for arrow in drawing.arrows {
            let color = arrow.isBroken ? ", color=\"#c62828\", penwidth=2" : ""
            lines.append(
                """
                    \"\(escaped(arrow.from))\" -> \"\(escaped(arrow.to))\" \
                [label=\"\(arrow.count)\"\(color)];
                """
            )
        }
        lines.append("}")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func identifiers(_ drawing: LayerDrawing) -> [String: String] {
        Dictionary(
            drawing.parts.enumerated().map { ($1.name, "part\($0)") },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static func quoted(_ text: String) -> String {
        text.map { $0 == "\"" ? "#quot;" : $0 == "<" ? "#lt;" : String($0) }.joined()
    }

    private static func escaped(_ text: String) -> String {
        text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }
}
