/// Lays out the parts of a drawing in rows, and the paths of arrows between them.
///
/// Except in cycles, parts are below those that may use them. An arrow across several rows gets a lane in each row that
/// it passes; rows are then sorted to reduce crossings.
struct ChartLayout {
    static let box = (width: 172.0, height: 62.0)
    private static let lane = 26.0
    private static let gap = (x: 34.0, y: 92.0)
    static let margin = 30.0

    private enum Item: Hashable {
        case part(String)
        case lane(LayerDrawing.Arrow, Int)
    }

    /// The upper left corners.
    private(set) var corners: [String: (x: Double, y: Double)] = [:]
    private var rowOf: [String: Int] = [:]
    private var lanes: [LayerDrawing.Arrow: [Int: Double]] = [:]
    private(set) var size = (width: 0.0, height: 0.0)
    private let drawing: LayerDrawing

    init(_ drawing: LayerDrawing) {
        self.drawing = drawing
        let names = Self.rows(of: drawing)
        for (row, names) in names.enumerated() { for name in names { rowOf[name] = row } }
        var rows = names.map { $0.map(Item.part) }
        for arrow in drawing.arrows {
            for row in passed(by: arrow) { rows[row].append(.lane(arrow, row)) }
        }
        place(sorted(rows))
    }

    private func passed(by arrow: LayerDrawing.Arrow) -> Range<Int> {
        guard let from = rowOf[arrow.from], let to = rowOf[arrow.to], abs(from - to) > 1 else {
            return 0..<0
        }
        return (min(from, to) + 1)..<max(from, to)
    }

    // MARK: Rows

    /// Cycles are broken where they are first met.
    private static func rows(of drawing: LayerDrawing) -> [[String]] {
        var targets: [String: Set<String>] = [:]
        for arrow in drawing.arrows where !arrow.isBroken {
            targets[arrow.from, default: []].insert(arrow.to)
        }
        var heights: [String: Int] = [:]
        var active: Set<String> = []
        func height(_ name: String) -> Int {
            if let known = heights[name] { return known }
            guard active.insert(name).inserted else { return 0 }
            let height = (targets[name] ?? []).sorted().map { height($0) + 1 }.max() ?? 0
            active.remove(name)
            heights[name] = height
            return height
        }
        let measured = drawing.parts.map { ($0.name, height($0.name)) }
        let highest = measured.map(\.1).max() ?? 0
        return (0...highest)
            .map { row in measured.filter { highest - $0.1 == row }.map(\.0) }
            .filter { !$0.isEmpty }
            .flatMap { names in
                // Long rows are split for readability.
                stride(from: 0, to: names.count, by: 6).map {
                    Array(names[$0..<min($0 + 6, names.count)])
                }
            }
    }

    private func sorted(_ rows: [[Item]]) -> [[Item]] {
        var rows = rows
        var columns: [Item: Double] = [:]
        func measure(_ row: Int) {
            for (column, item) in rows[row].enumerated() {
                columns[item] = (Double(column) + 0.5) / Double(rows[row].count)
            }
        }
        rows.indices.forEach(measure)
        for round in 0..<8 {
            let isDown = round.isMultiple(of: 2)
            for row in isDown ? Array(rows.indices.dropFirst()) : rows.indices.dropLast().reversed()
            {
                let other = isDown ? row - 1 : row + 1
                let weights = rows[row].map { item -> Double in
                    let near = neighbours(of: item, row, other).compactMap { columns[$0] }
                    return near.isEmpty
                        ? columns[item] ?? 0 : near.reduce(0, +) / Double(near.count)
                }
                rows[row] = zip(rows[row], weights).enumerated()
                    .sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }
                    .map(\.element.0)
                measure(row)
            }
        }
        return rows
    }

    private func neighbours(of item: Item, _ row: Int, _ other: Int) -> [Item] {
        func end(_ arrow: LayerDrawing.Arrow) -> Item {
            if passed(by: arrow).contains(other) { return .lane(arrow, other) }
            return .part(rowOf[arrow.from] == other ? arrow.from : arrow.to)
        }
        switch item {
        case .lane(let arrow, _): return [end(arrow)]
        case .part(let name):
            return drawing.arrows.filter { arrow in
                guard arrow.from == name || arrow.to == name else { return false }
                let far = arrow.from == name ? arrow.to : arrow.from
                guard let end = rowOf[far], end != row else { return false }
                return (end < row) == (other < row)
            }
            .map(end)
        }
    }

    private mutating func place(_ rows: [[Item]]) {
        func width(_ item: Item) -> Double {
            switch item {
            case .part: Self.box.width
            case .lane: Self.lane
            }
        }
        func width(_ row: [Item]) -> Double {
            row.map { width($0) }.reduce(0, +) + Double(max(0, row.count - 1)) * Self.gap.x
        }
        let widest = rows.map { width($0) }.max() ?? 0
        for (number, row) in rows.enumerated() {
            var x = Self.margin + (widest - width(row)) / 2
            let y = Self.margin + Double(number) * (Self.box.height + Self.gap.y)
            for item in row {
                switch item {
                case .part(let name): corners[name] = (x, y)
                case .lane(let arrow, let row): lanes[arrow, default: [:]][row] = x + Self.lane / 2
                }
                x += width(item) + Self.gap.x
            }
        }
        size = (
            widest + 2 * Self.margin,
            Double(rows.count) * (Self.box.height + Self.gap.y) - Self.gap.y + 2 * Self.margin
        )
    }

    // MARK: Paths

    /// The data of an SVG path, and a point for its label.
    func way(_ arrow: LayerDrawing.Arrow) -> (path: String, label: (x: Double, y: Double))? {
        guard let from = corners[arrow.from], let to = corners[arrow.to],
            let first = rowOf[arrow.from], let last = rowOf[arrow.to]
        else { return nil }
        let start = port(arrow, isStart: true)
        let end = port(arrow, isStart: false)
        guard first != last else {
            // An arc above the row.
            let top = from.y - 34
            return (
                "M\(start) \(from.y)C\(start) \(top) \(end) \(top) \(end) \(to.y - 3)",
                ((start + end) / 2, from.y - 26)
            )
        }
        let isDown = first < last
        var points = [(x: start, y: isDown ? from.y + Self.box.height : from.y)]
        let passedRows = Array(passed(by: arrow))
        for row in isDown ? passedRows : passedRows.reversed() {
            let x = lanes[arrow]?[row] ?? start
            let y = Self.margin + Double(row) * (Self.box.height + Self.gap.y)
            points.append((x, isDown ? y : y + Self.box.height))
            points.append((x, isDown ? y + Self.box.height : y))
        }
        points.append((end, isDown ? to.y - 3 : to.y + Self.box.height + 3))
        var path = "M\(points[0].x) \(points[0].y)"
        for (a, b) in zip(points, points.dropFirst()) {
            let bend = (b.y - a.y) * 0.5
            path += "C\(a.x) \(a.y + bend) \(b.x) \(b.y - bend) \(b.x) \(b.y)"
        }
        let next = points[1]
        return (path, ((points[0].x + next.x) / 2, (points[0].y + next.y) / 2))
    }

    /// The position of an arrow on a box's edge.
    private func port(_ arrow: LayerDrawing.Arrow, isStart: Bool) -> Double {
        let name = isStart ? arrow.from : arrow.to
        let docked = drawing.arrows.filter {
            ($0.from == name || $0.to == name) && edge($0, name) == edge(arrow, name)
        }
        .sorted {
            let left = (next($0, from: name), $0.from, $0.to)
            return left < (next($1, from: name), $1.from, $1.to)
        }
        let position = Double((docked.firstIndex(of: arrow) ?? 0) + 1)
        return (corners[name]?.x ?? 0) + Self.box.width * position / Double(docked.count + 1)
    }

    private func edge(_ arrow: LayerDrawing.Arrow, _ name: String) -> Bool {
        let far = arrow.from == name ? arrow.to : arrow.from
        return (rowOf[far] ?? 0) > (rowOf[name] ?? 0)
    }

    private func next(_ arrow: LayerDrawing.Arrow, from name: String) -> Double {
        let far = arrow.from == name ? arrow.to : arrow.from
        let rows = passed(by: arrow)
        let isBelow = edge(arrow, name)
        if let row = isBelow ? rows.first : rows.last, let x = lanes[arrow]?[row] { return x }
        return (corners[far]?.x ?? 0) + Self.box.width / 2
    }
}
