import Foundation

/// A drawing in SVG, with forbidden uses in red.
struct LayerChart {
    private let drawing: LayerDrawing
    private let layout: ChartLayout

    init(_ drawing: LayerDrawing) {
        self.drawing = drawing
        layout = ChartLayout(drawing)
    }

    // MARK: Drawing

    var svg: String {
        let arrows = drawing.arrows.filter { !$0.isBroken } + drawing.arrows.filter(\.isBroken)
        return """
            <svg class="chart" viewBox="0 0 \(Int(layout.size.width)) \(Int(layout.size.height))" \
            style="max-width:\(Int(layout.size.width))px" role="img" \
            aria-label="The layers and what they use">
            <defs>
            <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" \
            orient="auto-start-reverse"><path class="tip" d="M0 1 10 5 0 9z"/></marker>
            <marker id="tip-broken" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" \
            markerHeight="7" orient="auto-start-reverse"><path class="tip broken" d="M0 1 10 5 0 9z"/></marker>
            </defs>
            \(arrows.map(line).joined(separator: "\n"))
            \(drawing.parts.map(part).joined(separator: "\n"))
            \(arrows.map(label).joined(separator: "\n"))
            </svg>
            """
    }

    private func part(_ part: LayerDrawing.Part) -> String {
        guard let corner = layout.corners[part.name] else { return "" }
        let role = part.role?.rawValue ?? (part.isLayer ? "layer" : "none")
        let files = "\(part.fileCount) \(part.fileCount == 1 ? "file" : "files")"
        let middle = corner.x + ChartLayout.box.width / 2
        return """
            <g class="part \(role)"><title>\(HTMLText.escaped(part.lineHint))</title>
            <rect x="\(corner.x)" y="\(corner.y)" width="\(ChartLayout.box.width)" height="\(ChartLayout.box.height)" rx="12"/>
            <text class="name\(part.name.count > 17 ? " long" : "")" x="\(middle)" y="\(corner.y + 27)">\(HTMLText.escaped(part.name))</text>
            <text class="files" x="\(middle)" y="\(corner.y + 46)">\(files)</text></g>
            """
    }

    private func line(_ arrow: LayerDrawing.Arrow) -> String {
        guard let way = layout.way(arrow) else { return "" }
        return """
            <path class="arrow\(arrow.isBroken ? " broken" : "")" d="\(way.path)" \
            marker-end="url(#tip\(arrow.isBroken ? "-broken" : ""))">\
            <title>\(HTMLText.escaped("\(arrow.from) → \(arrow.to): \(arrow.count)"))</title></path>
            """
    }

    private func label(_ arrow: LayerDrawing.Arrow) -> String {
        guard let middle = layout.way(arrow)?.label else { return "" }
        let text = "\(arrow.count)"
        let width = Double(text.count) * 7.5 + 12
        return """
            <g class="count\(arrow.isBroken ? " broken" : "")"><rect x="\(middle.x - width / 2)" \
            y="\(middle.y - 9.5)" width="\(width)" height="19" rx="9.5"/>\
            <text x="\(middle.x)" y="\(middle.y + 4)">\(text)</text></g>
            """
    }
}

enum HTMLText {
    static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }
        .joined()
    }

    /// Escaped text, with code between backticks.
    static func rich(_ text: String) -> String {
        escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0 % 2 == 1 ? "<code>\($1)</code>" : String($1) }.joined()
    }
}
