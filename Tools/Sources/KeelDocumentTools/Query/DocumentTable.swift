package import KeelStorage
internal import KeelStorageFirestore
internal import KeelTerminal

package struct DocumentTable {
    private static let gap = 2
    /// The width below which no column is cut, unless it is the only one.
    private static let narrowest = 8

    private let rows: [[String]]

    /// Creates a table; without `columns`, of all fields of the top level.
    ///
    /// The first column has paths or ids.
    ///
    /// - Throws: `StorageError/Code/corrupted` if a document cannot be decoded.
    package init(
        _ documents: [Document],
        columns: [FieldPath]?,
        showsPaths: Bool
    ) throws(StorageError) {
        var all: [(String, DocumentFields)] = []
        for document in documents {
            let name = showsPaths ? document.path.string : document.id
            all.append((name, try document.fields()))
        }
        var fields = columns ?? []
        if columns == nil {
            var seen = Set<FieldPath>()
            for (_, row) in all {
                fields += row.names.map { FieldPath(names: [$0]) }.filter {
                    seen.insert($0).inserted
                }
            }
        }
        rows =
            [[showsPaths ? "PATH" : "ID"] + fields.map { TextWidth.harmless($0.description) }]
            + all.map { name, row in
                [TextWidth.harmless(name)] + fields.map { row[$0].map(Self.cell) ?? "" }
            }
    }

    /// Returns the table's lines.
    ///
    /// - Parameter width: The maximum width of a line; nil for no limit.
    /// - Returns: The lines, and the number of omitted columns on the right.
    package func lines(width: Int? = nil) -> (lines: [String], hiddenColumnCount: Int) {
        let all =
            rows.first?.indices.map { column in
                rows.reduce(0) { max($0, TextWidth.of($1[column])) }
            } ?? []
        let widths = width.map { Self.fitted(all, to: $0) } ?? all
        let lines = rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                TextWidth.padded(TextWidth.truncated(cell, to: width), to: width)
            }
            let line = cells.joined(separator: String(repeating: " ", count: Self.gap))
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        return (lines, all.count - widths.count)
    }

    /// Returns the widths of the columns, without those that do not fit.
    private static func fitted(_ widths: [Int], to width: Int) -> [Int] {
        var widths = widths
        func total(_ most: Int) -> Int {
            widths.reduce((widths.count - 1) * gap) { $0 + min($1, most) }
        }
        while widths.count > 1, total(narrowest) > width { widths.removeLast() }
        guard let widest = widths.max(), total(widest) > width else { return widths }
        guard widths.count > 1 else { return [width] }
        var (low, high) = (narrowest, widest)
        while high - low > 1 {
            let middle = (low + high) / 2
            if total(middle) <= width { low = middle } else { high = middle }
        }
        var left = width - total(low)
        return widths.map { own in
            guard own > low else { return own }
            // The remaining spaces are fewer than the columns.
            defer { left -= 1 }
            return left > 0 ? low + 1 : low
        }
    }

    /// Returns a value on one line: plain JSON, strings without quotes.
    package static func cell(_ value: DocumentValue) -> String {
        if case .string(let text) = value { return TextWidth.harmless(text) }
        return TextWidth.harmless(String(decoding: DocumentJSON.plain(value), as: UTF8.self))
    }
}
