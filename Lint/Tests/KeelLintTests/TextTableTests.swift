import KeelLint
import Testing

@Suite("Numbers for texts")
struct TextTableTests {
    @Test("Each text gets one number, in the order of the first meeting, also when the table grows")
    func numbers() {
        var table = TextTable()
        let texts = (0..<5_000).map { number in
            String(repeating: "a long beginning ", count: number % 4) + String(number)
        }
        for _ in 0..<2 {
            for (position, text) in texts.enumerated() {
                #expect(table.number(of: text).number == position)
            }
        }
        #expect(table.count == texts.count)
        var back: [String] = []
        table.visitAll { back.append(String(decoding: $0, as: UTF8.self)) }
        #expect(back == texts)
    }

    @Test("Texts are the same if their bytes are: lengths, ends and forms of accents count")
    func sameness() {
        var table = TextTable()
        let texts = ["", "a", "aa", "a\0", "12345678", "123456789", "12345679", "é", "e\u{301}"]
        for text in texts { #expect(table.number(of: text).isNew) }
        for text in texts { #expect(!table.number(of: text).isNew) }
    }

    @Test("What was never given a number is not found")
    func absence() {
        var table = TextTable()
        _ = table.number(of: "known")
        let found = ["known", "unknown", ""].map { text in
            var text = text
            return text.withUTF8 { table.find($0) }
        }
        #expect(found == [0, nil, nil])
    }
}
