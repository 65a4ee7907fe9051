import KeelLint
import Testing

@Suite("Text numbering")
struct TextTableTests {
    @Test("Each text gets one number in order of first appearance, even when the table grows")
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

    @Test("Texts are equal if their bytes are equal, including length, end and accents")
    func sameness() {
        var table = TextTable()
        let texts = ["", "a", "aa", "a\0", "12345678", "123456789", "12345679", "é", "e\u{301}"]
        for text in texts { #expect(table.number(of: text).isNew) }
        for text in texts { #expect(!table.number(of: text).isNew) }
    }

    @Test("A text without a number is not found")
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
