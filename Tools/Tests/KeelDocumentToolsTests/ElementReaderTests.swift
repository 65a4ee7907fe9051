import Foundation
import KeelDocumentTools
import KeelToolsTestSupport
import Testing

@Suite("Elements of a file")
struct ElementReaderTests {
    private func read(_ text: String, _ container: ElementReader.Container) throws -> [String] {
        let scratch = try Scratch()
        let file = try scratch.file("input", holding: text)
        var reader = try ElementReader(file, container: container)
        var found: [String] = []
        while let element = try reader.next() {
            let text = String(decoding: element.text, as: UTF8.self)
            found.append("\(element.number) \(element.flaw ?? text)")
        }
        return found
    }

    @Test("Lines are numbered as in an editor, and empty lines are skipped")
    func lines() throws {
        let found = try read("\u{FEFF}{\"a\":1}\r\n\n  \n {\"b\":2} \n{\"c\":3}", .lines)
        #expect(found == ["1 {\"a\":1}", "4 {\"b\":2}", "5 {\"c\":3}"])
    }

    @Test("Elements of an array are separated by brackets outside of strings")
    func array() throws {
        let found = try read(#" [ {"a":"],\"{"} , [1,[2]],3 ]  "#, .array)
        #expect(found == [#"1 {"a":"],\"{"}"#, "2 [1,[2]]", "3 3"])
    }

    @Test(
        "A flaw in an array is reported as its own element",
        arguments: [
            ("[1,,2]", ["1 1", "2 is missing between two commas", "3 2"]),
            ("[1 ", ["1 1", "2 the file ends within the array"]),
            ("[1] 2", ["1 1", "2 something follows the array"]),
            ("{}", ["1 the file does not begin with an array"]),
            ("[}},2]", ["1 }}", "2 2"]), ("[]", []),
        ]
    )
    func flaws(_ text: String, _ expected: [String]) throws {
        let found = try read(text, .array)
        #expect(found == expected)
    }

    @Test(
        "Reading can restart after any element",
        arguments: [ElementReader.Container.lines, .array]
    )
    func resumption(_ container: ElementReader.Container) throws {
        let scratch = try Scratch()
        let text = container == .lines ? "1\n\n22\n333\n" : "[1, 22 ,\n333]\n"
        let file = try scratch.file("input", holding: text)
        var whole = try ElementReader(file, container: container)
        while let element = try whole.next() {
            var rest = try ElementReader(
                file,
                container: container,
                from: whole.offset,
                number: element.number
            )
            let length = element.text.count + 1
            let expected = length > 3 ? nil : String(repeating: "\(length)", count: length)
            let next = try rest.next()
            #expect(next.map { String(decoding: $0.text, as: UTF8.self) } == expected)
        }
    }

    @Test("Reading can restart after an element that is missing between two commas")
    func resumptionAfterGap() throws {
        let scratch = try Scratch()
        let file = try scratch.file("input", holding: "[1,,22]")
        var whole = try ElementReader(file, container: .array)
        _ = try whole.next()
        let gap = try #require(try whole.next())
        var rest = try ElementReader(
            file,
            container: .array,
            from: whole.offset,
            number: gap.number
        )
        let next = try #require(try rest.next())
        #expect(next.number == 3 && next.flaw == nil)
        #expect(String(decoding: next.text, as: UTF8.self) == "22")
    }
}
