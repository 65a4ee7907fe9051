package import KeelStorage
internal import KeelStorageFirestore

/// Documents as a table for people.
package struct DocumentTable {
    /// The widest that a column gets, in characters.
    static let widest = 40

    private let rows: [[String]]

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - documents: The rows.
    ///   - columns: The fields; nil shows every field of the top level that a row has.
    ///   - showsPaths: Whether the first column has whole paths rather than ids.
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
            [[showsPaths ? "PATH" : "ID"] + fields.map(\.description)]
            + all.map { name, row in
                [Self.cell(name)] + fields.map { row[$0].map(Self.cell) ?? "" }
            }
    }

    /// The table's lines.
    package var lines: [String] {
        var widths = [Int](repeating: 0, count: rows.first?.count ?? 0)
        for row in rows {
            for (column, cell) in row.enumerated() {
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// A value on one line: plain JSON, strings without their quotes.
    package static func cell(_ value: DocumentValue) -> String {
        if case .string(let text) = value { return cell(text) }
        return cell(String(decoding: DocumentJSON.plain(value), as: UTF8.self))
    }

    private static func cell(_ text: String) -> String {
        // Control characters would let a document's text command the terminal.
        let safe = text.unicodeScalars.reduce(into: "") { safe, scalar in
            let isControl = scalar.properties.generalCategory == .control
            safe.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        guard safe.count > widest else { return safe }
        return safe.prefix(widest - 1) + "…"
    }
}
