import KeelToolSupport
import Testing

@Suite("TOML of keel.toml")
struct TOMLDocumentTests {
    private func entries(_ text: String) throws -> [TOMLDocument.Entry] {
        try TOMLDocument(Array(text.utf8), name: "keel.toml").entries
    }

    @Test("Keys, tables and values are read with their lines")
    func document() throws {
        let text = """
            # comment
            title = "a \\"b\\" \\u00e9\\t" # comment
            path = 'C:\\new'
            a.b . "c d" = 1

            [ profile."two words" ]
            list = [ 1, # one
              2,
            ]
            deep = [["x"], []]
            on = true
            \t off=false
            """
        let found = try entries(text)
        #expect(
            found.map(\.path) == [
                ["title"], ["path"], ["a", "b", "c d"], ["profile", "two words", "list"],
                ["profile", "two words", "deep"], ["profile", "two words", "on"],
                ["profile", "two words", "off"],
            ]
        )
        #expect(
            found.map(\.value) == [
                .string("a \"b\" é\t"), .string("C:\\new"), .integer(1),
                .array([.integer(1), .integer(2)]),
                .array([.array([.string("x")]), .array([])]), .boolean(true), .boolean(false),
            ]
        )
        #expect(found.map(\.line) == [2, 3, 4, 7, 10, 11, 12])
    }

    @Test("Windows line ends, a byte order mark and an empty file are valid")
    func lineEnds() throws {
        #expect(try entries("").isEmpty)
        #expect(try entries("\u{FEFF}[a]\nb = 1").map(\.path) == [["a", "b"]])
        let found = try entries("a = 1\r\n# c\r\n\r\n[b]\r\nc = [\r\n2]\r\n")
        #expect(found.map(\.line) == [1, 5])
    }

    @Test(
        "Integers have the spellings of TOML",
        arguments: [
            ("+99", 99), ("-17", -17), ("0", 0), ("1_000", 1000), ("0xDEAD_beef", 0xDEAD_BEEF),
            ("0o755", 0o755), ("0b11", 3), ("-9223372036854775808", Int.min),
        ]
    )
    func integers(text: String, value: Int) throws {
        #expect(try entries("a = \(text)").first?.value == .integer(value))
    }

    @Test(
        "A table may come before the one above it, and be opened below a dotted key",
        arguments: ["[a.b]\nc = 1\n[a]\nd = 2", "a.b = 1\n[a.c]\nd = 1", "[a]\nb.c = 1\n[a.d]\n"]
    )
    func tables(text: String) throws { #expect(throws: Never.self) { try entries(text) } }

    @Test(
        "Invalid text is refused",
        arguments: [
            "a", "a =", "= 1", "a = 1 b = 2", "a = 1\na = 2", "a.b = 1\na = 2", "a = 1\na.b = 2",
            "[a]\n[a]", "[a", "[]", "[[a]]", "[a]\nb = 1\n[a.b]", "a.b = 1\n[a]",
            "[a.b]\n[a]\nb.c = 1", "a = \"x", "a = \"\\x\"", "a = \"\\uD800\"", "a = \"\"\"x\"\"\"",
            "a = 'x\n'", "a = 01", "a = 1__0", "a = _1", "a = 1_", "a = 0x", "a = +0x1",
            "a = 9223372036854775808", "a = 1.5", "a = 2026-11-22", "a = inf", "a = True",
            "a = [1 2]", "a = [1", "a = [,]", "a = {b = 1}", "a = \u{1}", "a = 1\rb = 2", "é = 1",
            "a. = 1", "\"a\"b = 1",
        ]
    )
    func invalid(text: String) { #expect(throws: ToolError.self, "\(text)") { try entries(text) } }

    @Test("An error names the line and what to write")
    func error() throws {
        let error = #expect(throws: ToolError.self) { try entries("a = [\n1,\n]\nb = 1.5\n") }
        #expect(error?.message == "keel.toml:4: “1.5” is not a value")
        #expect(error?.advice.contains("Values are") == true)
    }

    @Test(
        "A name that is both a value and a table is named as such",
        arguments: [
            ("storage = \"s\"\n[storage]\n", true), ("a = 1\na.b = 2", true),
            ("a.b = 1\na = 2", true), ("a = 1\na = 2", false), ("[a]\n[a]", false),
        ]
    )
    func kinds(text: String, isMixed: Bool) throws {
        let error = #expect(throws: ToolError.self) { try entries(text) }
        #expect(error?.message.contains("both a value and a table") == isMixed)
        #expect(error?.message.contains("is defined twice") == !isMixed)
    }

    @Test(
        "The error of such a name says what to type",
        arguments: [
            ("storage = \"s\"\n[storage]\n", "Write “storage = …” into the table [all], "),
            (
                "[profile.p]\nlogs = \"l\"\n[profile.p.logs]\n",
                "Write “logs = …” into the table [profile.p.all], "
            ),
            ("profile.p = 1\n[profile.p]\n", "Remove one of them."),
        ]
    )
    func mixedAdvice(text: String, advice: String) throws {
        let error = #expect(throws: ToolError.self) { try entries(text) }
        #expect(error?.advice.hasPrefix(advice) == true, "\(error?.advice ?? "")")
    }

    @Test("Bytes that are not UTF-8 are refused")
    func encoding() {
        #expect(throws: ToolError.self) { try TOMLDocument([0x61, 0xFF], name: "keel.toml") }
    }
}
