/// What keys do to a line: a state machine that knows no terminal.
package struct LineEditing: Sendable {
    /// What has to happen after a key.
    package enum Step: Hashable, Sendable {
        /// The line is shown as it is now.
        case show
        /// The line is complete.
        case accept
        /// The line is abandoned.
        case abandon
        /// There is no further line.
        case leave
        /// The word before the cursor is to be completed.
        case complete
        /// The screen is to be cleared.
        case clear
    }

    /// A search backwards through the history.
    private struct Search: Sendable {
        var text = ""
        /// The line that was found; nil before anything was.
        var index: Int?
        var isFailing = false
        /// What Control-C goes back to.
        let original: (line: LineBuffer, position: Int)
    }

    package var line = LineBuffer()
    private let history: [String]
    /// The line of the history that is shown; its count for the line that is new.
    private var position: Int
    private var draft = ""
    private var search: Search?

    /// Begins with an empty line.
    ///
    /// - Parameter history: The earlier lines, the last one last.
    package init(history: [String] = []) {
        self.history = history
        position = history.count
    }

    /// What stands in place of the prompt during a search.
    package var searchPrompt: String? {
        search.map { "\($0.isFailing ? "not found" : "search") “\($0.text)”: " }
    }

    /// Takes a key.
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

    /// Takes a key of a search; nil for one that ends it and means what it always means.
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
