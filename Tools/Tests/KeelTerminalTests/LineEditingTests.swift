import Foundation
import KeelTerminal
import KeelToolsTestSupport
import Testing

@Suite("The line editor")
struct LineEditingTests {
    /// Returns the keys for the bytes of a terminal.
    private func keys(_ text: String) -> [Key] {
        var parser = KeyParser()
        var keys = text.utf8.compactMap { parser.key($0) }
        if let last = parser.end() { keys.append(last) }
        return keys
    }

    private func edited(_ text: String, history: [String] = []) -> LineEditing {
        var editing = LineEditing(history: history)
        for key in keys(text) { _ = editing.take(key) }
        return editing
    }

    @Test(
        "Keys arrive as terminals send them",
        arguments: [
            ("\u{1B}[A\u{1B}OB\u{1B}[1~\u{1B}[4~", [.up, .down, .home, .end]),
            ("\u{1B}[H\u{1B}[F\u{1B}[3~", [.home, .end, .delete]),
            ("\u{7F}\u{8}\u{1}", [.backspace, .backspace, .control("a")]),
            ("\u{1B}[1;5D\u{1B}f", [.wordLeft, .wordRight]),
            ("é漢", [.scalar("é"), .scalar("漢")]),
            ("\u{1B}[200~a\tb\r\u{1B}[201~\r", [.paste("a\tb\r"), .enter]),
            ("\u{1B}", [.escape]), ("\u{1B}[99;99X\t", [.tab]), ("\u{FFFD}", [.scalar("\u{FFFD}")]),
            ("\u{1B}\r\u{1B}\u{3}", [.enter, .control("c")]),
            ("\u{1B}\u{1B}[A\u{1B}x", [.up, .escape]),
        ] as [(String, [Key])]
    )
    func sequences(text: String, expected: [Key]) { #expect(keys(text) == expected) }

    @Test(
        "Keys edit the line",
        arguments: [
            ("abc\u{1B}[D\u{1B}[DX", "aXbc"), ("abc\u{1}X\u{5}Y", "XabcY"),
            ("one two\u{17}x", "one x"), ("one two  \u{17}x", "one x"),
            ("one two\u{1}\u{B}x", "x"), ("one two\u{15}x\u{19}", "xone two"),
            ("a👩‍👩‍👧‍👦b\u{1B}[D\u{7F}", "ab"), ("e\u{301}x\u{7F}\u{7F}", ""),
            ("abc\u{1}\u{4}\u{1B}[3~", "c"),
            ("a b c\u{1B}b\u{1B}bX\u{1B}fY", "a XbY c"),
            ("\u{1B}[200~{\"a\":\n1}\u{1B}[201~", "{\"a\": 1}"),
        ]
    )
    func editing(text: String, expected: String) { #expect(edited(text).line.text == expected) }

    @Test("The history is walked and searched, and the new line stays")
    func history() {
        let lines = ["get a/1", "query b", "get c/1"]
        #expect(edited("new\u{1B}[A\u{1B}[A", history: lines).line.text == "query b")
        #expect(
            edited("new\u{1B}[A\u{1B}[A\u{1B}[A\u{1B}[A", history: lines).line.text == "get a/1"
        )
        #expect(edited("new\u{1B}[A\u{1B}[B", history: lines).line.text == "new")
        let found = edited("\u{12}get", history: lines)
        #expect(found.line.text == "get c/1")
        #expect(found.searchPrompt == "search “get”: ")
        #expect(edited("\u{12}get\u{12}", history: lines).line.text == "get a/1")
        #expect(edited("\u{12}get\u{12}\u{12}", history: lines).searchPrompt == "not found “get”: ")
        #expect(edited("new\u{12}get\u{7}", history: lines).line.text == "new")
        #expect(edited("\u{12}a/1\u{3}\u{1B}[A", history: lines).line.text == "get c/1")
        #expect(edited("\u{12}query\u{5}!", history: lines).line.text == "query b!")
        var editing = edited("\u{12}query", history: lines)
        #expect(editing.take(.enter) == .accept)
        #expect(editing.line.text == "query b")
    }

    @Test("Control-C, Control-D, Tab and Control-L mean what they mean in shells")
    func steps() {
        var editing = edited("x")
        #expect(editing.take(.tab) == .complete)
        #expect(editing.take(.control("l")) == .clear)
        #expect(editing.take(.control("c")) == .abandon)
        #expect(editing.take(.control("d")) == .show)
        #expect(edited("x\u{7F}").line.text.isEmpty)
        var empty = LineEditing()
        #expect(empty.take(.control("d")) == .leave)
    }

    @Test("A history that is shortened keeps a line that another shell adds meanwhile")
    func sharedHistory() async throws {
        let scratch = try Scratch()
        let text = (0..<2100).map { "line \($0)\n" }.joined()
        let file = try scratch.file("history", holding: text)
        let other = try FileHandle(forUpdating: file)
        try #require(flock(other.fileDescriptor, LOCK_EX) == 0)
        async let shortened = withCheckedContinuation {
            (continuation: CheckedContinuation<[String], Never>) in
            // A thread of its own, because it waits for the lock.
            let thread = Thread { continuation.resume(returning: LineHistory(in: file).lines) }
            thread.start()
        }
        _ = try other.seekToEnd()
        try other.write(contentsOf: Data("added\n".utf8))
        try other.close()
        let lines = await shortened
        #expect(lines.last == "added")
        #expect(LineHistory(in: file).lines.count == LineHistory.capacity)
        #expect(LineHistory(in: file).lines.last == "added")
    }

    @Test("A history is private, bounded, and without repetitions")
    func file() throws {
        let scratch = try Scratch()
        let file = scratch.file("state/history")
        var history = LineHistory(in: file)
        for line in ["a", "a", " secret", "", "b"] { history.add(line) }
        #expect(history.problem == nil)
        #expect(LineHistory(in: file).lines == ["a", "b"])
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        for number in 0..<2100 { history.add("line \(number)") }
        let read = LineHistory(in: file)
        #expect(read.lines.count == LineHistory.capacity)
        #expect(read.lines.last == "line 2099")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.split(separator: "\n").count == LineHistory.capacity)
        var nowhere = LineHistory(in: URL(filePath: "/proc/none/history"))
        nowhere.add("a")
        #expect(nowhere.problem?.contains("/proc/none") == true)
        #expect(nowhere.lines == ["a"])
        // The file can be opened, but takes only numbers.
        var refused = LineHistory(in: URL(filePath: "/proc/self/oom_score_adj"))
        refused.add("a")
        #expect(refused.problem?.contains("oom_score_adj") == true)
        #expect(refused.lines.last == "a")
    }

    @Test(
        "A line is split into words as in shells, and JSON stays as it is",
        arguments: [
            ("get a/1", ["get", "a/1"]), ("  ", []),
            ("a 'b c'  d\\ e ''", ["a", "b c", "d e", ""]),
            (#"set {"b": "x } y", "c": {}} x"#, ["set", #"{"b": "x } y", "c": {}}"#, "x"]),
            (#"x "a \" b" 'c\d'"#, ["x", #"a " b"#, #"c\d"#]), ("a 'b", nil), ("set {", nil),
            ("a\\", nil),
        ] as [(String, [String]?)]
    )
    func words(line: String, expected: [String]?) { #expect(ShellWords(line).all == expected) }

    @Test("The word at the cursor is known with its quote")
    func lastWord() {
        let quoted = ShellWords("query a --where 'na")
        #expect(quoted.words == ["query", "a", "--where"])
        #expect(quoted.last == "na" && quoted.openQuote == "'" && quoted.lastCount == 3)
        let empty = ShellWords("get ")
        #expect(empty.words == ["get"] && empty.last.isEmpty && empty.lastCount == 0)
        let word = "it's {a} \\ b"
        #expect(ShellWords("x \(ShellWords.escaped(word))").all == ["x", word])
    }
}
