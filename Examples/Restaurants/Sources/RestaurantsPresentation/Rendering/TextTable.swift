/// Rows of text in columns that fit a width.
struct TextTable: Sendable {
    struct Column: Sendable {
        let title: String
        /// Whether the column shrinks if the table is too wide.
        var isFlexible = false
        /// Whether the column is omitted if all its cells are empty.
        var isOptional = false
    }

    let columns: [Column]
    var rows: [[String]]

    private static let gap = 2
    private static let leastFlexibleWidth = 8

    /// The table's lines, beginning with the titles.
    func lines(width: Int, style: Style) -> [String] { shown.fittedLines(width, style) }

    /// The table without empty columns.
    private var shown: TextTable {
        let wanted = columns.indices.filter { index in
            !columns[index].isOptional || rows.contains { !$0[index].isEmpty }
        }
        return TextTable(
            columns: wanted.map { columns[$0] },
            rows: rows.map { row in wanted.map { row[$0] } }
        )
    }

    private func fittedLines(_ width: Int, _ style: Style) -> [String] {
        let widths = fittedWidths(into: width)
        let titles = line(columns.map(\.title), widths)
        return [style.bold(titles)] + rows.map { line($0, widths) }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = zip(cells, widths).map { cell, width in Self.fit(cell, width) }
        let text = padded.joined(separator: String(repeating: " ", count: Self.gap))
        return String(text.reversed().drop { $0 == " " }.reversed())
    }

    private func fittedWidths(into width: Int) -> [Int] {
        var widths = columns.indices.map { index in
            ([columns[index].title] + rows.map { $0[index] }).map(\.count).max() ?? 0
        }
        var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - width
        while excess > 0 {
            // The widest flexible column shrinks first.
            let flexible = columns.indices.filter {
                columns[$0].isFlexible && widths[$0] > Self.leastFlexibleWidth
            }
            guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private static func fit(_ text: String, _ width: Int) -> String {
        text.count > width
            ? text.prefix(width - 1) + "…"
            : text + String(repeating: " ", count: width - text.count)
    }
}
