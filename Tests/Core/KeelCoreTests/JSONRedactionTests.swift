import KeelCore
import Testing

@Suite("JSON redaction")
struct JSONRedactionTests {
    static let rows: [(String, String)] = [
        (#"{"a":1,"token":"x","b":[true,null]}"#, #"{"a":1,"token":"<redacted>","b":[true,null]}"#),
        (#"{"secret":{"a":["}",{}]},"b":2}"#, #"{"secret":"<redacted>","b":2}"#),
        (#"{"password":12345}"#, #"{"password":"<redacted>"}"#),
        (#"{"password":null}"#, #"{"password":null}"#),
        (#"{"pass\u0077ord":"x"}"#, #"{"pass\u0077ord":"<redacted>"}"#),
        (#"{"m":"ada\u0040example.org"}"#, #"{"m":"<redacted>"}"#),
        (#"{"m":"line\n\"ada@example.org\""}"#, #"{"m":"line\n\"<redacted>\""}"#),
        (#"[4111111111111111, 1.5e3]"#, #"["<redacted>", 1.5e3]"#),
        (#"{"d":"{\"pin\":1,\"x\":[2]}"}"#, #"{"d":"{\"pin\":\"<redacted>\",\"x\":[2]}"}"#),
        (#"{"ada@example.org":1}"#, #"{"<redacted>":1}"#),
        (#"{"a":"token","b":"c"}"#, #"{"a":"token","b":"c"}"#),
        ("{\"a\":1}\n{\"token\":2}\n", "{\"a\":1}\n{\"token\":\"<redacted>\"}\n"),
        (#"{token: abc}"#, #"{"<redacted>": "<redacted>"}"#),
        (
            #"{token: "abc", 'pin' : {"a":1}, b: "c"}"#,
            #"{"<redacted>": "<redacted>", "<redacted>" : "<redacted>", "<redacted>": "c"}"#
        ),
        (#"{"a":"unfinished"#, #"{"a":"<redacted>""#),
        (#"{"token":"unfinished"#, #"{"token":"<redacted>""#),
        (#"{"token":["unfinished"#, #"{"token":"<redacted>""#),
        ("", ""),
        ("true", "true"),
    ]

    @Test("Sensitive values are removed, and the rest is unchanged byte for byte", arguments: rows)
    func whole(text: String, expected: String) {
        let result = Redactor.standard.redactJSON(Array(text.utf8))
        #expect(String(decoding: result, as: UTF8.self) == expected)
    }

    @Test("The result is the same wherever the text is split", arguments: rows)
    func cut(text: String, expected: String) {
        let bytes = Array(text.utf8)
        for place in 0...bytes.count {
            var redaction = JSONRedaction()
            let result =
                redaction.redact(bytes[..<place]) + redaction.redact(bytes[place...])
                + redaction.finish()
            #expect(String(decoding: result, as: UTF8.self) == expected)
        }
    }

    @Test("Memory is bounded by one value and the depth")
    func bounded() {
        var redaction = JSONRedaction()
        let long = redaction.redact(Array("[\"".utf8) + [UInt8](repeating: 0x61, count: 70_000))
        #expect(long == Array("[".utf8))
        #expect(redaction.redact(Array("\"]".utf8)) == Array(#""<redacted>"]"#.utf8))

        let deep = Redactor.standard.redactJSON(
            [UInt8](repeating: UInt8(ascii: "["), count: 10_000)
        )
        #expect(deep.count == 512 + 12)
    }
}
