/// The layout of a prompt and a line in the rows of a terminal.
struct LineLayout: Hashable, Sendable {
    /// The visible rows.
    private(set) var rows: [String] = []
    /// The index of the cursor's row among the visible rows.
    private(set) var cursorRow = 0
    private(set) var cursorColumn = 0

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
            // The cursor is at the place of the next character.
            all.append(row)
            (row, width) = ("", 0)
        }
        let (cursor, column) = (all.count, width)
        for character in line.after { place(character) }
        all.append(row)
        // Of a line longer than the screen, the part around the cursor is visible.
        let first = max(0, min(cursor - size.rows / 2, all.count - size.rows))
        rows = Array(all[first...].prefix(size.rows))
        cursorRow = cursor - first
        cursorColumn = column
    }

    /// Returns the number of rows above the cursor in a terminal of another width, which has wrapped them.
    func rowsAbove(_ columns: Int) -> Int {
        let above = rows.prefix(cursorRow).reduce(0) { count, row in
            count + max(1, (TextWidth.of(row) + columns - 1) / columns)
        }
        return above + cursorColumn / columns
    }

    /// The control sequence that draws the rows from the first one, and places the cursor.
    var drawing: String {
        let up = rows.count - 1 - cursorRow
        return rows.joined(separator: "\r\n") + (up > 0 ? "\u{1B}[\(up)A" : "") + "\r"
            + (cursorColumn > 0 ? "\u{1B}[\(cursorColumn)C" : "")
    }
}
