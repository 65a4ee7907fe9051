import Foundation
import KeelHTTP
import KeelTestKit
import KeelURITemplates
import Testing

@Suite("URI templates")
struct URITemplateTests {
    private static let values: [String: URITemplate.Value] = [
        "city": "New York", "zip": "10001", "place": "a/b?c=d&e", "half": "50%", "done": "50%25",
        "none": "", "tags": ["red", "blue sky", "tea"], "nothing": .list([]),
        "empty_pairs": .pairs([]),
        "range": ["from": "1", "to": "9;2"], "blank": [""], "gap": ["k": ""], "ünused": "x",
        "a.b": "dotted", "%41": "encoded", "wide": "éñ€😀z", "mixed": "%C3%A9t%zz",
    ]

    @Test(
        "A template expands as RFC 6570 specifies",
        arguments: [
            // Literals.
            ("", ""), ("plain", "plain"), ("/é'*%41", "/%C3%A9'*%41"),
            // Simple expansion.
            ("{city}", "New%20York"), ("{place}", "a%2Fb%3Fc%3Dd%26e"), ("{half}", "50%25"),
            ("{done}", "50%2525"), ("{city,zip}", "New%20York,10001"), ("{none}", ""),
            ("<{missing}>".replacing("<", with: "(").replacing(">", with: ")"), "()"),
            ("{missing,zip,none}", "10001,"), ("{tags}", "red,blue%20sky,tea"),
            ("{tags*}", "red,blue%20sky,tea"), ("{range}", "from,1,to,9%3B2"),
            ("{range*}", "from=1,to=9%3B2"), ("{nothing,zip}", "10001"),
            ("{a.b}", "dotted"), ("{%41}", "encoded"),
            // Prefixes count characters, not bytes.
            ("{city:3}", "New"), ("{city:99}", "New%20York"), ("{wide:1}", "%C3%A9"),
            ("{wide:4}", "%C3%A9%C3%B1%E2%82%AC%F0%9F%98%80"), ("{done:3}", "50%25"),
            // Reserved and fragment expansion.
            ("{+place}", "a/b?c=d&e"), ("{+half}", "50%25"), ("{+done}", "50%25"),
            ("{+city,zip}", "New%20York,10001"), ("{+tags*}", "red,blue%20sky,tea"),
            ("{+range*}", "from=1,to=9;2"), ("{+done:3}", "50%25"), ("{+mixed:2}", "%C3%A9"),
            ("{+mixed}", "%C3%A9t%25zz"), ("{#place}", "#a/b?c=d&e"), ("{#place:3}", "#a/b"),
            ("x{#missing}", "x"), ("{#zip,range}", "#10001,from,1,to,9;2"),
            // Labels and segments.
            ("{.zip,city}", ".10001.New%20York"), ("{.tags}", ".red,blue%20sky,tea"),
            ("{.tags*}", ".red.blue%20sky.tea"), ("{.range*}", ".from=1.to=9%3B2"),
            ("{/zip,city:3}", "/10001/New"), ("{/tags}", "/red,blue%20sky,tea"),
            ("{/tags*}", "/red/blue%20sky/tea"), ("{/place}", "/a%2Fb%3Fc%3Dd%26e"),
            ("{/none}", "/"), ("{/missing,zip}", "/10001"),
            // Parameters of a path.
            ("{;zip,none,missing}", ";zip=10001;none"), ("{;tags}", ";tags=red,blue%20sky,tea"),
            ("{;tags*}", ";tags=red;tags=blue%20sky;tags=tea"), ("{;gap*}", ";k"),
            ("{;blank}", ";blank"), ("{;range}", ";range=from,1,to,9%3B2"),
            // Queries.
            ("{?zip,none,missing}", "?zip=10001&none="), ("{?tags}", "?tags=red,blue%20sky,tea"),
            ("{?tags*,zip}", "?tags=red&tags=blue%20sky&tags=tea&zip=10001"),
            ("{?range*}", "?from=1&to=9%3B2"), ("{?range}", "?range=from,1,to,9%3B2"),
            ("{?gap*}", "?k="), ("{?blank*}", "?blank="), ("{?empty_pairs*,nothing}", ""),
            ("?fixed=1{&zip,city:3}", "?fixed=1&zip=10001&city=New"),
            ("{&range*}", "&from=1&to=9%3B2"),
        ]
    )
    func expands(template: String, expected: String) throws {
        let parsed = try URITemplate(template)
        #expect(try parsed.expanded(Self.values) == expected)
        #expect(parsed.description == template)
    }

    @Test(
        "An invalid template is rejected with the position of the mistake",
        arguments: [
            ("/a{id", URITemplateError.Reason.unbalancedBrace, 2), ("/id}", .unbalancedBrace, 3),
            ("{a{b}}", .unbalancedBrace, 2), ("a b", .literal, 1), ("é b", .literal, 2),
            ("50%", .literal, 2), ("%4", .literal, 0), ("a<b", .literal, 1), ("a|b", .literal, 1),
            ("{}", .variableName, 1), ("{?}", .variableName, 2), ("{a,}", .variableName, 3),
            ("{a b}", .variableName, 2), ("{a-b}", .variableName, 2), ("{.}", .variableName, 2),
            ("{a.}", .variableName, 3), ("{a..b}", .variableName, 3), ("{%2x}", .variableName, 1),
            ("{é}", .variableName, 1), ("{=a}", .unknownOperator, 1), ("{!a}", .unknownOperator, 1),
            ("{|a}", .unknownOperator, 1), ("{@a}", .unknownOperator, 1), ("{a:}", .modifier, 3),
            ("{a:0}", .modifier, 3), ("{a:01}", .modifier, 3), ("{a:10000}", .modifier, 3),
            ("{a:1x}", .modifier, 3), ("{a:3*}", .modifier, 3), ("{a*:3}", .modifier, 3),
            ("{a**}", .modifier, 3),
        ]
    )
    func refuses(template: String, reason: URITemplateError.Reason, offset: Int) {
        let error = #expect(throws: URITemplateError.self) { _ = try URITemplate(template) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test("A prefix of a list or of pairs is rejected", arguments: ["ab{tags:2}", "ab{+range:2}"])
    func refusesPrefixOfMany(template: String) throws {
        let parsed = try URITemplate(template)
        let error = #expect(throws: URITemplateError.self) { _ = try parsed.expanded(Self.values) }
        #expect(error?.reason == .prefixOfComposite)
        #expect(error?.offset == (template.contains("+") ? 4 : 3))
        #expect(try parsed.expanded([:]) == "ab")
    }

    @Test("A template lists each variable once, in order")
    func namesVariables() throws {
        let template = try URITemplate("/{b}/{a}{?b,c*,d:3}")
        #expect(template.variableNames == ["b", "a", "c", "d"])
    }

    @Test("Arbitrary text is either parsed or rejected at a position inside it")
    func readsAnything() {
        var generator = SeededRandom(seed: 570)
        let characters = Array("{}{}+#./;?&*:,%41a9_-é |=!")
        for _ in 1...5000 {
            let text = String(
                (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
                    characters.randomElement(using: &generator)
                }
            )
            do throws(URITemplateError) {
                let template = try URITemplate(text)
                #expect(template.description == text)
                _ = try template.expanded(["a": "x", "9": ["y"], "_": ["k": "v"]])
            } catch {
                #expect((0...text.utf8.count).contains(error.offset), "\(text)")
            }
        }
    }

    @Test("Expanded values are encoded so that they decode to the originals")
    func encodesAnything() throws {
        var generator = SeededRandom(seed: 6570)
        let template = try URITemplate("{a}{/b*}{?c*}")
        for _ in 1...500 {
            let texts = (0..<4).map { _ in
                String(
                    String.UnicodeScalarView(
                        (0..<6).map { _ in
                            Unicode.Scalar(UInt32.random(in: 0...0xD7FF, using: &generator)) ?? "?"
                        }
                    )
                )
            }
            let text = try template.expanded([
                "a": .string(texts[0]), "b": .list([texts[1]]),
                "c": .pairs([HTTPQuery.Item(name: texts[2], value: texts[3])]),
            ])
            let pieces = text.split(omittingEmptySubsequences: false) { "/?=".contains($0) }
            #expect(pieces.map { $0.removingPercentEncoding } == texts, "seed 6570")
        }
    }
}
