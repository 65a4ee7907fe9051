/// A line with its prompt, as the rows of a terminal.
struct LineLayout: Hashable, Sendable {
    /// The rows that are shown.
    private(set) var rows: [String] = []
    /// The row of the cursor among those that are shown.
    private(set) var cursorRow = 0
    private(set) var cursorColumn = 0

    /// Lays a line out.
    ///
    /// - Parameters:
    ///   - prompt: What stands before it.
    ///   - line: The line.
    ///   - size: The size of the terminal.
    init(_ prompt: String, _ line: LineBuffer, _ size: TerminalSize) {
        var (row, width) = ("", 0)
        var all: [String] = []
        func place(_ character: Character) {
            let own = min(TextWidth.of(character), size.columns)
            if width + own > size.columns {
                all.append(row)
                (row, width) = ("", 0)
            }
            row.append(character)
            width += own
        }
        for character in prompt + line.before { place(character) }
        if width == size.columns {
            // The cursor stands where the next character will.
            all.append(row)
            (row, width) = ("", 0)
        }
        let (cursor, column) = (all.count, width)
        for character in line.after { place(character) }
        all.append(row)
        // A line that is longer than the screen is shown around the cursor.
        let first = max(0, min(cursor - size.rows / 2, all.count - size.rows))
        rows = Array(all[first...].prefix(size.rows))
        cursorRow = cursor - first
        cursorColumn = column
    }

    /// How many rows are above the cursor once a terminal of another width has wrapped them.
    func rowsAbove(_ columns: Int) -> Int {
        let above = rows.prefix(cursorRow).reduce(0) { count, row in
            count + max(1, (TextWidth.of(row) + columns - 1) / columns)
        }
        return above + cursorColumn / columns
    }

    /// What draws the rows, from the first one on, and puts the cursor into its place.
    var drawing: String {
        let up = rows.count - 1 - cursorRow
        return rows.joined(separator: "\r\n") + (up > 0 ? "\u{1B}[\(up)A" : "") + "\r"
            + (cursorColumn > 0 ? "\u{1B}[\(cursorColumn)C" : "")
    }
}
