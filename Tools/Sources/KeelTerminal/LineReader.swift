internal import Foundation

/// Reads lines from a terminal on standard input, with the usual keys of shells.
///
/// The line is drawn on standard error.
package final class LineReader {
    package enum Outcome: Hashable, Sendable {
        case line(String)
        /// The line was abandoned with Control-C.
        case abandoned
        /// The input ended, by Control-D or with the terminal.
        case end
    }

    /// Completes the word before the cursor.
    package typealias Completer = @Sendable (_ before: String) async -> LineCompletion

    private static let mostShown = 200

    private let input = TerminalInput()
    private var layout = LineLayout("", LineBuffer(), TerminalSize(columns: 80, rows: 24))

    package private(set) var history: LineHistory

    package init(history: LineHistory) { self.history = history }

    /// Restores the terminal; to be called before a signal ends the process.
    package var restoration: @Sendable () -> Void { { [input] in input.end() } }

    /// Reads a line after a prompt, and adds it to the history; the Tab key calls `completer`.
    package func line(prompt: String, completer: Completer) async -> Outcome {
        input.begin()
        // The terminal marks pasted text, so that tabs in it do not complete words.
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

    /// Inserts the common beginning of all candidates, or lists them.
    ///
    /// - Returns: Whether the line must be drawn below a list.
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
        let labels = candidates.prefix(Self.mostShown).map { TextWidth.harmless($0.label) }
        for line in Self.grid(labels, size.columns) {
            write("\(line)\r\n")
        }
        if candidates.count > Self.mostShown || completion.hasMore {
            write("… and more: type another letter.\r\n")
        }
        return true
    }

    /// Returns lines with as many words side by side as fit.
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

    /// Moves to the line below the text.
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

/// The possible completions of a word.
package struct LineCompletion: Sendable {
    package struct Candidate: Hashable, Sendable {
        /// The replacement of the word.
        package var text: String
        /// The text after the replacement if there is only one candidate, such as a space.
        package var end: String
        package var label: String

        package init(_ text: String, end: String = " ", label: String? = nil) {
            self.text = text
            self.end = end
            self.label = label ?? text
        }
    }

    /// The number of replaced characters before the cursor.
    package var replaced: Int
    package var candidates: [Candidate]
    /// Whether there are further candidates.
    package var hasMore: Bool

    package init(replaced: Int, candidates: [Candidate], hasMore: Bool = false) {
        self.replaced = replaced
        self.candidates = candidates
        self.hasMore = hasMore
    }

    package static let none = LineCompletion(replaced: 0, candidates: [])
}
