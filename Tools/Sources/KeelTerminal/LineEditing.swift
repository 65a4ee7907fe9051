/// A state machine that applies keys to a line, independent of a terminal.
package struct LineEditing: Sendable {
    /// The action after a key.
    package enum Step: Hashable, Sendable {
        /// Show the current line.
        case show
        case accept
        case abandon
        /// End the input.
        case leave
        /// Complete the word before the cursor.
        case complete
        /// Clear the screen.
        case clear
    }

    /// A search backwards through the history.
    private struct Search: Sendable {
        var text = ""
        /// The index of the found line; nil before the first match.
        var index: Int?
        var isFailing = false
        /// The state that Control-C and Control-G restore.
        let original: (line: LineBuffer, position: Int)
    }

    package var line = LineBuffer()
    private let history: [String]
    /// The index of the shown line in the history; the history's count for the new line.
    private var position: Int
    private var draft = ""
    private var search: Search?

    /// Creates an empty line; `history` has the earlier ones, oldest first.
    package init(history: [String] = []) {
        self.history = history
        position = history.count
    }

    /// The prompt during a search; nil otherwise.
    package var searchPrompt: String? {
        search.map { "\($0.isFailing ? "not found" : "search") “\($0.text)”: " }
    }

    package mutating func take(_ key: Key) -> Step {
        if search != nil, let step = takeInSearch(key) { return step }
        switch key {
        case .scalar(let scalar): line.insert(String(scalar))
        case .paste(let text): line.insert(text)
        case .enter: return .accept
        case .tab: return .complete
        case .backspace, .control("h"): line.deleteBackward()
        case .delete: line.deleteForward()
        case .left, .control("b"): line.moveLeft()
        case .right, .control("f"): line.moveRight()
        case .home, .control("a"): line.moveToStart()
        case .end, .control("e"): line.moveToEnd()
        case .wordLeft: line.moveWordLeft()
        case .wordRight: line.moveWordRight()
        case .control("w"), .wordBackspace: line.cutWord()
        case .control("u"): line.cutToStart()
        case .control("k"): line.cutToEnd()
        case .control("y"): line.paste()
        case .up, .control("p"): show(position - 1)
        case .down, .control("n"): show(position + 1)
        case .control("c"): return .abandon
        case .control("d"):
            if line.text.isEmpty { return .leave }
            line.deleteForward()
        case .control("l"): return .clear
        case .control("r"): search = Search(original: (line, position))
        case .escape, .control: break
        }
        return .show
    }

    private mutating func show(_ new: Int) {
        guard (0...history.count).contains(new), new != position else { return }
        if position == history.count { draft = line.text }
        position = new
        line.replace(with: new == history.count ? draft : history[new])
    }

    // MARK: Search

    /// Applies a key during a search; returns nil for a key that ends the search and has its usual effect.
    private mutating func takeInSearch(_ key: Key) -> Step? {
        guard var search else { return nil }
        switch key {
        case .scalar(let scalar):
            search.text.unicodeScalars.append(scalar)
            find(&search, from: search.index ?? history.count - 1)
        case .backspace:
            if !search.text.isEmpty { search.text.removeLast() }
            find(&search, from: history.count - 1)
        case .control("r"): find(&search, from: (search.index ?? history.count) - 1)
        case .control("c"), .control("g"):
            (line, position) = search.original
            self.search = nil
            return .show
        case .escape:
            self.search = nil
            return .show
        default:
            self.search = nil
            return nil
        }
        self.search = search
        return .show
    }

    private mutating func find(_ search: inout Search, from start: Int) {
        guard !search.text.isEmpty else { return }
        let found = history.indices.prefix(max(0, start + 1)).last {
            history[$0].contains(search.text)
        }
        search.isFailing = found == nil
        guard let found else { return }
        search.index = found
        position = found
        line.replace(with: history[found])
    }
}
