#if TestServer
import KeelTestKit
import Testing

@testable import KeelTestServer

@Suite("HTTP/1.1 request parser")
struct HTTP1RequestParserTests {
    private static let conversation =
        "\r\nPOST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nX-Blank:\t y \r\n\r\nbody"
        + "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "3;ext=1\r\none\r\n5\r\n two!\r\n0\r\nX-Late: yes\r\n\r\n"
        + "GET /d HTTP/1.1\r\n\r\n"

    private func parse(_ bytes: [UInt8], in size: Int) -> [String] {
        var parser = HTTP1RequestParser()
        var words: [String] = []
        var body: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            parser.append(bytes[start..<min(start + size, bytes.count)])
            while let event = parser.next() {
                switch event {
                case .head(let head):
                    words.append(head.line + head.fields.map { " \($0.name)=\($0.value)" }.joined())
                case .body(let piece): body += piece
                case .end(let trailers):
                    words.append(String(decoding: body, as: UTF8.self))
                    words += trailers.map { "\($0.name)=\($0.value)" }
                    body = []
                case .invalid:
                    words.append("invalid")
                    return words
                }
            }
        }
        return words
    }

    @Test("The parser finds the same requests, however the bytes are split", arguments: 1...60)
    func cuts(size: Int) {
        #expect(
            parse(Array(Self.conversation.utf8), in: size) == [
                "POST /a?b HTTP/1.1 Host=x Content-Length=4 X-Blank=y", "body",
                "PUT /c HTTP/1.1 Transfer-Encoding=chunked", "one two!", "X-Late=yes",
                "GET /d HTTP/1.1", "",
            ]
        )
    }

    @Test(
        "The parser rejects invalid requests",
        arguments: ["nonsense\r\n\r\n", "\u{16}\u{3}\r\n\r\n"]
    )
    func nonsense(text: String) { #expect(parse(Array(text.utf8), in: 3) == ["invalid"]) }
}
#endif
