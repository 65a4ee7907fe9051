#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelCore
import KeelFiles
import KeelHTTP
import KeelTestKit
import Testing

@testable import KeelFilesS3

@Suite("S3 wire formats")
struct WireTests {
    @Test("Elements, text, entities, CDATA, comments and prefixes are read")
    func documents() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a <comment> -->
            <s3:List xmlns:s3="urn:x" a='1'>
              <Key>a &amp; b &lt;&gt; &quot;&apos; &#x1F98A;&#252;</Key><Empty/><Key><![CDATA[<&>]]></Key>
              <In><Deep x="&lt;">1</Deep></In>
            </s3:List>

            """
        let root = try XMLElement(parsing: Array(text.utf8))
        #expect(root.name == "List")
        #expect(root.all("Key").map(\.text) == ["a & b <> \"' 🦊ü", "<&>"])
        #expect(root.text("Empty")?.isEmpty == true)
        #expect(root["In"]?.text("Deep") == "1")
        #expect(root["Missing"] == nil)
    }

    @Test("Invalid documents are rejected")
    func flaws() {
        let flawed = [
            "", "x", "<a", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a>&x;</a>", "<a>&amp</a>",
            "<a>&#xD800;</a>", "<a>&#1114112;</a>", "<a b></a>", "<a b=c></a>", "<a b=\"c></a>",
            "<!DOCTYPE a><a/>", "<a><![CDATA[x]]</a>", "<!-- <a/>", "<a/>x", "< a/>",
            String(repeating: "<a>", count: 20) + String(repeating: "</a>", count: 20),
        ]
        for text in flawed {
            #expect(throws: XMLFlaw.self, "\(text)") { try XMLElement(parsing: Array(text.utf8)) }
        }
        #expect(throws: XMLFlaw.self) { try XMLElement(parsing: Array("<a>".utf8) + [0xFF, 0x3C]) }
        #expect(throws: XMLFlaw.self) {
            try XMLElement(parsing: Array("<a><b/><b/></a>".utf8), most: 2)
        }
    }

    @Test("No bytes crash the reader")
    func anyBytes() {
        var random = SeededRandom(seed: 7)
        let pieces = [
            "<", ">", "/", "a", "=", "\"", "&", ";", "#x", "!", "--", "[CDATA[", "]]>", "?", " ",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            _ = try? XMLElement(parsing: Array(text.utf8))
        }
    }

    @Test("Attributes of every kind fit into a header field, plain ones unchanged")
    func attributes() throws {
        for value in ["plain", "with space", "a=b; c", "50%"] {
            #expect(S3Attributes.encoded(value) == value)
        }
        let others = [
            "", " ", " a", "a ", "a  b", "Zoë 写真", "\"\\\n", "=?UTF-8?B?eA==?=", "🦊", "\u{301}",
            String(repeating: "é🦊x", count: 100),
        ]
        for value in others {
            let encoded = S3Attributes.encoded(value)
            #expect(encoded != value)
            #expect(encoded.utf8.allSatisfy { (0x20...0x7E).contains($0) })
            #expect(encoded.split(separator: " ").allSatisfy { $0.count <= 75 })
            #expect(S3Attributes.decoded(encoded) == value)
        }
        // In the form that other programs may write and S3 returns.
        #expect(S3Attributes.decoded("=?UTF-8?Q?Zo=C3=AB_a?=") == "Zoë a")
        for broken in ["=?", "=?UTF-8?B?%%?=", "=?latin-1?Q?a?=", "=?UTF-8?X?a?="] {
            #expect(S3Attributes.decoded(broken) == broken)
        }
    }

    @Test("Content-Range fields are parsed")
    func ranges() {
        #expect(ContentRange.part(in: [.contentRange: "bytes 2-4/10"])?.bytes == 2..<5)
        for text in ["bytes 2-4/*", "bytes 4-2/10", "bytes 2-10/10", "2-4/10", "bytes -4/10"] {
            #expect(ContentRange.part(in: [.contentRange: text]) == nil, "\(text)")
        }
    }

    @Test("Texts are percent-encoded by their bytes and decoded")
    func encoding() {
        #expect(PercentEncoding.encode("a b/~+ü") == "a%20b%2F~%2B%C3%BC")
        #expect(PercentEncoding.encode("a b/~", keepsSlashes: true) == "a%20b/~")
        #expect(PercentEncoding.decode("a+b%20%C3%BC%", plusIsSpace: true) == "a b ü%")
        #expect(PercentEncoding.decode("a+b%2") == "a+b%2")
    }
}
#endif
