internal import Foundation

/// Reads lines from the terminal that is standard input, with the keys that people know from shells.
///
/// What it draws goes to standard error, so that standard output has results alone.
package final class LineReader {
    /// How the reading of a line ended.
    package enum Outcome: Hashable, Sendable {
        case line(String)
        /// Control-C abandoned it.
        case abandoned
        /// Control-D, or the end of the terminal.
        case end
    }

    /// Completes the word before the cursor.
    package typealias Completer = @Sendable (_ before: String) async -> LineCompletion

    /// The most candidates that are shown.
    private static let mostShown = 200

    private let input = TerminalInput()
    private var layout = LineLayout("", LineBuffer(), TerminalSize(columns: 80, rows: 24))

    /// The lines that were entered.
    package private(set) var history: LineHistory

    package init(history: LineHistory) { self.history = history }

    /// Gives the terminal back as it was, before a signal ends the process.
    package var restoration: @Sendable () -> Void { { [input] in input.end() } }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - prompt: What stands before it.
    ///   - completer: Completes a word for the key Tab.
    /// - Returns: The line, or why there is none.
    package func line(prompt: String, completer: Completer) async -> Outcome {
        input.begin()
        // Pasted text comes marked, so that its tabs complete nothing.
        write("\u{1B}[?2004h")
        defer {
            write("\u{1B}[?2004l")
            input.end()
        }
        var editing = LineEditing(history: history.lines)
        var isFresh = true
        while true {
            show(editing, prompt, isFresh: isFresh)
            isFresh = false
            switch await input.next() {
            case .resized: continue
            case .end: return .end
            case .key(let key):
                switch editing.take(key) {
                case .show: continue
                case .clear:
                    write("\u{1B}[H\u{1B}[2J")
                    isFresh = true
                case .complete: isFresh = await complete(&editing, prompt, completer)
                case .accept:
                    leave(editing, prompt)
                    history.add(editing.line.text)
                    return .line(editing.line.text)
                case .abandon:
                    leave(editing, prompt, mark: "^C")
                    return .abandoned
                case .leave:
                    leave(editing, prompt)
                    return .end
                }
            }
        }
    }

    /// Inserts what all candidates have in common, or shows them.
    ///
    /// - Returns: Whether the line has to be drawn below what was shown.
    private func complete(
        _ editing: inout LineEditing,
        _ prompt: String,
        _ completer: Completer
    ) async -> Bool {
        let completion = await completer(editing.line.before)
        let candidates = completion.candidates
        guard let first = candidates.first else {
            write("\u{07}")
            return false
        }
        let word = String(editing.line.before.suffix(completion.replaced))
        let common = candidates.dropFirst().reduce(first.text) { $0.commonPrefix(with: $1.text) }
        if candidates.count == 1 || common.count > word.count {
            let end = candidates.count == 1 ? first.end : ""
            editing.line.replace(last: completion.replaced, with: common + end)
            return false
        }
        leave(editing, prompt)
        let size = TerminalSize(of: STDERR_FILENO)
        for line in Self.grid(candidates.prefix(Self.mostShown).map(\.label), size.columns) {
            write("\(line)\r\n")
        }
        if candidates.count > Self.mostShown || completion.hasMore {
            write("… and more: type another letter.\r\n")
        }
        return true
    }

    /// Words side by side, as many as fit.
    private static func grid(_ words: [String], _ columns: Int) -> [String] {
        let widest = (words.map { TextWidth.of($0) }.max() ?? 0) + 2
        let perLine = max(1, columns / widest)
        return stride(from: 0, to: words.count, by: perLine).map { start in
            words[start...].prefix(perLine)
                .map { TextWidth.padded(TextWidth.truncated($0, to: columns), to: widest) }
                .joined()
        }
    }

    private func show(_ editing: LineEditing, _ prompt: String, isFresh: Bool) {
        let size = TerminalSize(of: STDERR_FILENO)
        let above = isFresh ? 0 : layout.rowsAbove(size.columns)
        layout = LineLayout(editing.searchPrompt ?? prompt, editing.line, size)
        write("\r" + (above > 0 ? "\u{1B}[\(above)A" : "") + "\u{1B}[J" + layout.drawing)
    }

    /// Goes to the line below the text.
    private func leave(_ editing: LineEditing, _ prompt: String, mark: String = "") {
        var last = editing
        last.line.moveToEnd()
        last.line.insert(mark)
        show(last, prompt, isFresh: false)
        write("\r\n")
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Array(text.utf8))
    }
}

/// How a word can go on.
package struct LineCompletion: Sendable {
    /// A way to go on.
    package struct Candidate: Hashable, Sendable {
        /// What takes the word's place.
        package var text: String
        /// What comes behind it where it is the only one, such as a space.
        package var end: String
        /// What it is called in a list.
        package var label: String

        package init(_ text: String, end: String = " ", label: String? = nil) {
            self.text = text
            self.end = end
            self.label = label ?? text
        }
    }

    /// How many characters before the cursor are replaced.
    package var replaced: Int
    package var candidates: [Candidate]
    /// Whether there are more than these.
    package var hasMore: Bool

    package init(replaced: Int, candidates: [Candidate], hasMore: Bool = false) {
        self.replaced = replaced
        self.candidates = candidates
        self.hasMore = hasMore
    }

    package static let none = LineCompletion(replaced: 0, candidates: [])
}
