/// An edited line with a cursor.
package struct LineBuffer: Hashable, Sendable {
    package private(set) var before: String
    package private(set) var after = ""
    private var cut = ""

    /// Creates a line with the cursor at its end.
    package init(_ text: String = "") { before = text }

    package var text: String { before + after }

    /// Replaces the text, and moves the cursor to its end.
    package mutating func replace(with text: String) { (before, after) = (text, "") }

    /// Inserts text before the cursor, with spaces in place of control characters.
    package mutating func insert(_ text: String) {
        for scalar in text.unicodeScalars {
            let isControl = scalar.properties.generalCategory == .control
            before.unicodeScalars.append(isControl ? " " : scalar)
        }
    }

    /// Replaces the last characters before the cursor.
    package mutating func replace(last count: Int, with text: String) {
        before.removeLast(min(count, before.count))
        insert(text)
    }

    package mutating func deleteBackward() { if !before.isEmpty { before.removeLast() } }

    package mutating func deleteForward() { if !after.isEmpty { after.removeFirst() } }

    package mutating func moveLeft() {
        if let last = before.popLast() { after.insert(last, at: after.startIndex) }
    }

    package mutating func moveRight() { if !after.isEmpty { before.append(after.removeFirst()) } }

    package mutating func moveToStart() { (before, after) = ("", text) }

    package mutating func moveToEnd() { (before, after) = (text, "") }

    package mutating func moveWordLeft() {
        let word = lastWord
        before.removeLast(word.count)
        after = word + after
    }

    package mutating func moveWordRight() {
        let word = String(after.prefix { $0.isWhitespace })
        let rest = after.dropFirst(word.count).prefix { !$0.isWhitespace }
        before += word + rest
        after.removeFirst(word.count + rest.count)
    }

    /// Cuts the word before the cursor, and the spaces between both.
    package mutating func cutWord() {
        cut = lastWord
        before.removeLast(cut.count)
    }

    package mutating func cutToStart() { (cut, before) = (before, "") }

    package mutating func cutToEnd() { (cut, after) = (after, "") }

    /// Inserts the text that was cut last.
    package mutating func paste() { before += cut }

    private var lastWord: String {
        let spaces = before.reversed().prefix { $0.isWhitespace }.count
        let word = before.dropLast(spaces).reversed().prefix { !$0.isWhitespace }.count
        return String(before.suffix(spaces + word))
    }
}
