import Foundation

/// The parts and arrows of a project as SVG.
///
/// Parts that are used stand below those that use them, so that lawful arrows lead down; arrows that
/// break a layer are red, wherever they lead.
struct LayerChart {
    private static let box = (width: 176.0, height: 62.0)
    private static let gap = (x: 40.0, y: 96.0)
    private static let margin = 36.0

    private struct Place {
        var x: Double
        var y: Double
        var row: Int
    }

    private let drawing: LayerDrawing
    private var places: [String: Place] = [:]
    private let size: (width: Double, height: Double)

    init(_ drawing: LayerDrawing) {
        self.drawing = drawing
        let rows = Self.ordered(Self.rows(of: drawing), drawing)
        let widest = Double(rows.map(\.count).max() ?? 1)
        let width = widest * Self.box.width + (widest - 1) * Self.gap.x
        for (row, names) in rows.enumerated() {
            let taken = Double(names.count) * Self.box.width + Double(names.count - 1) * Self.gap.x
            for (column, name) in names.enumerated() {
                places[name] = Place(
                    x: Self.margin + (width - taken) / 2
                        + Double(column) * (Self.box.width + Self.gap.x),
                    y: Self.margin + Double(row) * (Self.box.height + Self.gap.y),
                    row: row
                )
            }
        }
        // Room to the right for arrows that lead up.
        let detour = drawing.arrows.contains(where: \.isBroken) ? 90.0 : 0
        size = (
            width + 2 * Self.margin + detour,
            Double(rows.count) * (Self.box.height + Self.gap.y) - Self.gap.y + 2 * Self.margin
        )
    }

    // MARK: Rows

    /// The names in rows, each below what uses it; what goes round in circles stays where it is met.
    private static func rows(of drawing: LayerDrawing) -> [[String]] {
        var targets: [String: Set<String>] = [:]
        for arrow in drawing.arrows where !arrow.isBroken {
            targets[arrow.from, default: []].insert(arrow.to)
        }
        var depths: [String: Int] = [:]
        var active: Set<String> = []
        /// The longest way down from a part.
        func height(_ name: String) -> Int {
            if let known = depths[name] { return known }
            guard active.insert(name).inserted else { return 0 }
            let height = (targets[name] ?? []).sorted().map { height($0) + 1 }.max() ?? 0
            active.remove(name)
            depths[name] = height
            return height
        }
        let heights = drawing.parts.map { ($0.name, height($0.name)) }
        let highest = heights.map(\.1).max() ?? 0
        return (0...highest).map { row in
            heights.filter { highest - $0.1 == row }.map(\.0)
        }
        .filter { !$0.isEmpty }
        .flatMap { names in
            // A row that is too long to read goes over several.
            stride(from: 0, to: names.count, by: 6).map {
                Array(names[$0..<min($0 + 6, names.count)])
            }
        }
    }

    /// Sorts each row by where those above it are, so that fewer arrows cross.
    private static func ordered(_ rows: [[String]], _ drawing: LayerDrawing) -> [[String]] {
        var rows = rows
        var columns: [String: Double] = [:]
        for row in rows.indices {
            let names = rows[row].enumerated().map { column, name -> (String, Double) in
                let above = drawing.arrows.filter { $0.to == name }.compactMap { columns[$0.from] }
                let middle =
                    above.isEmpty
                    ? Double(column) / Double(max(1, rows[row].count))
                    : above.reduce(0, +) / Double(above.count)
                return (name, middle)
            }
            rows[row] = names.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
            for (column, name) in rows[row].enumerated() {
                columns[name] = (Double(column) + 0.5) / Double(rows[row].count)
            }
        }
        return rows
    }

    // MARK: Drawing

    var svg: String {
        let arrows = drawing.arrows.filter { !$0.isBroken } + drawing.arrows.filter(\.isBroken)
        return """
            <svg class="chart" viewBox="0 0 \(Int(size.width)) \(Int(size.height))" \
            style="max-width:\(Int(size.width))px" role="img" \
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
        guard let place = places[part.name] else { return "" }
        let role = part.role?.rawValue ?? (part.isLayer ? "layer" : "none")
        let files = "\(part.fileCount) \(part.fileCount == 1 ? "file" : "files")"
        let middle = place.x + Self.box.width / 2
        return """
            <g class="part \(role)"><title>\(HTMLText.escaped(part.lineHint))</title>
            <rect x="\(place.x)" y="\(place.y)" width="\(Self.box.width)" height="\(Self.box.height)" rx="12"/>
            <text class="name" x="\(middle)" y="\(place.y + 27)">\(HTMLText.escaped(part.name))</text>
            <text class="files" x="\(middle)" y="\(place.y + 46)">\(files)</text></g>
            """
    }

    /// Where an arrow begins and ends, and how it bends.
    private func curve(_ arrow: LayerDrawing.Arrow) -> (
        path: String, middle: (x: Double, y: Double)
    )? {
        guard let from = places[arrow.from], let to = places[arrow.to] else { return nil }
        if from.row < to.row {
            let start = (x: port(arrow, from, isOut: true), y: from.y + Self.box.height)
            let end = (x: port(arrow, to, isOut: false), y: to.y - 3)
            let bend = (end.y - start.y) * 0.45
            return (
                """
                M\(start.x) \(start.y)C\(start.x) \(start.y + bend) \(end.x) \(end.y - bend) \
                \(end.x) \(end.y)
                """,
                ((start.x + end.x) / 2, (start.y + end.y) / 2)
            )
        }
        // Up or across: out of the right side and in at the right side.
        let start = (x: from.x + Self.box.width, y: from.y + Self.box.height * 0.35)
        let end = (x: to.x + Self.box.width + 3, y: to.y + Self.box.height * 0.65)
        let far = max(start.x, end.x) + 36 + Double(abs(from.row - to.row)) * 14
        return (
            "M\(start.x) \(start.y)C\(far) \(start.y) \(far) \(end.y) \(end.x) \(end.y)",
            (far * 0.75 + (start.x + end.x) / 2 * 0.25, (start.y + end.y) / 2)
        )
    }

    /// The place on a box's edge where an arrow docks, beside those of its neighbours.
    private func port(_ arrow: LayerDrawing.Arrow, _ place: Place, isOut: Bool) -> Double {
        let others = drawing.arrows.filter { other in
            guard let from = places[other.from], let to = places[other.to], from.row < to.row else {
                return false
            }
            return isOut ? other.from == arrow.from : other.to == arrow.to
        }
        .sorted {
            let left = (places[isOut ? $0.to : $0.from]?.x ?? 0, $0.to, $0.from)
            let right = (places[isOut ? $1.to : $1.from]?.x ?? 0, $1.to, $1.from)
            return left < right
        }
        let position = Double((others.firstIndex(of: arrow) ?? 0) + 1)
        return place.x + Self.box.width * position / Double(others.count + 1)
    }

    private func line(_ arrow: LayerDrawing.Arrow) -> String {
        guard let curve = curve(arrow) else { return "" }
        return """
            <path class="arrow\(arrow.isBroken ? " broken" : "")" d="\(curve.path)" \
            marker-end="url(#tip\(arrow.isBroken ? "-broken" : ""))">\
            <title>\(HTMLText.escaped("\(arrow.from) → \(arrow.to): \(arrow.count)"))</title></path>
            """
    }

    private func label(_ arrow: LayerDrawing.Arrow) -> String {
        guard let middle = curve(arrow)?.middle else { return "" }
        let text = "\(arrow.count)"
        let width = Double(text.count) * 7.5 + 12
        return """
            <g class="count\(arrow.isBroken ? " broken" : "")"><rect x="\(middle.x - width / 2)" \
            y="\(middle.y - 9.5)" width="\(width)" height="19" rx="9.5"/>\
            <text x="\(middle.x)" y="\(middle.y + 4)">\(text)</text></g>
            """
    }
}

/// Text for HTML.
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

    /// Text with what stands between back-ticks as code.
    static func rich(_ text: String) -> String {
        escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0 % 2 == 1 ? "<code>\($1)</code>" : String($1) }.joined()
    }
}
