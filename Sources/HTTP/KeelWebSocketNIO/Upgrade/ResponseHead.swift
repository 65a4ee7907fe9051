#if WebSocket
import HTTPTypes

/// The head of an HTTP/1.1 response, parsed strictly (RFC 9112 sections 4 and 5).
///
/// Used for the response to an upgrade, where another protocol may follow the exact end.
struct ResponseHead: Equatable, Sendable {
    var response: HTTPResponse
    /// The length of the head in bytes, including the empty line.
    var length: Int

    static let maximumLength = 64 << 10

    struct Flaw: Error, Equatable {}

    /// Reads the head at the beginning of `bytes`; nil if its end has not arrived.
    static func read(_ bytes: [UInt8]) throws(Flaw) -> ResponseHead? {
        // Another protocol is refused without waiting for more bytes.
        guard zip(bytes, "HTTP/1.".utf8).allSatisfy({ $0 == $1 }) else { throw Flaw() }
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            guard end < maximumLength else { throw Flaw() }
            guard end > start, bytes[end - 1] == UInt8(ascii: "\r") else { throw Flaw() }
            let line = bytes[start..<end - 1]
            start = end + 1
            guard !line.isEmpty else { return try ResponseHead(lines, length: start) }
            lines.append(line)
        }
        guard bytes.count < maximumLength else { throw Flaw() }
        return nil
    }

    private init(_ lines: [ArraySlice<UInt8>], length: Int) throws(Flaw) {
        guard let first = lines.first else { throw Flaw() }
        let parts = first.split(separator: UInt8(ascii: " "), maxSplits: 2).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0",
            parts[1].utf8.count == 3, let code = UInt16(parts[1]), code >= 100
        else { throw Flaw() }
        var fields = HTTPFields()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { throw Flaw() }
            let value = line[line.index(after: colon)...]
            guard !value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else {
                throw Flaw()
            }
            fields.append(HTTPField(name: name, value: Self.trimmed(value)))
        }
        self.length = length
        response = HTTPResponse(
            status: .init(code: Int(code), reasonPhrase: parts.count > 2 ? parts[2] : ""),
            headerFields: fields
        )
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let start = value.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex
        return String(decoding: start[..<end], as: UTF8.self)
    }
}
#endif
