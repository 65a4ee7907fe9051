#if TestServer
import KeelTestKit

/// A parser of HTTP/1.1 requests in the bytes of a connection (RFC 9112).
///
/// The parser is lenient, because a test server reports what a client sends without judging it.
struct HTTP1RequestParser: Sendable {
    enum Event: Sendable, Hashable {
        case head(HTTPTestRequest)
        case body(ArraySlice<UInt8>)
        case end([HTTPTestRequest.Field])
        /// The following bytes are not a request.
        case invalid
    }

    private enum State: Sendable {
        case head
        case length(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers([HTTPTestRequest.Field])
        case broken
    }

    private var bytes: ArraySlice<UInt8> = []
    private var state = State.head

    mutating func append(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Returns the next event, or nil if it needs more bytes.
    mutating func next() -> Event? {
        switch state {
        case .head: return takeHead()
        case .length(let left): return takeBody(left) { .length($0) }
        case .chunkSize:
            guard let line = takeLine() else { return nil }
            guard let size = Int(line.prefix { $0 != ";" && $0 != " " }, radix: 16), size >= 0
            else { return fail() }
            state = size == 0 ? .trailers([]) : .chunk(size)
            return next()
        case .chunk(let left): return takeBody(left) { $0 == 0 ? .chunkEnd : .chunk($0) }
        case .chunkEnd:
            guard let line = takeLine() else { return nil }
            guard line.isEmpty else { return fail() }
            state = .chunkSize
            return next()
        case .trailers(let fields):
            guard let line = takeLine() else { return nil }
            if line.isEmpty {
                state = .head
                return .end(fields)
            }
            state = .trailers(fields + [Self.field(line)].compactMap { $0 })
            return next()
        case .broken: return nil
        }
    }

    private mutating func fail() -> Event {
        state = .broken
        return .invalid
    }

    private mutating func takeLine() -> String? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = bytes[..<end]
        bytes = bytes[(end + 1)...]
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
    }

    private mutating func takeHead() -> Event? {
        // Empty lines before a request are ignored (RFC 9112, section 2.2).
        while bytes.first == 13 || bytes.first == 10 { bytes.removeFirst() }
        guard let end = Self.end(of: bytes) else { return nil }
        var lines: [String] = []
        while bytes.startIndex < end, let line = takeLine() { lines.append(line) }
        let parts = (lines.first ?? "").split(separator: " ", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { return fail() }
        let fields = lines.dropFirst().compactMap { Self.field($0) }
        let head = HTTPTestRequest(
            method: parts[0],
            target: parts[1],
            version: parts[2],
            fields: fields
        )
        if head["transfer-encoding"]?.lowercased().hasSuffix("chunked") == true {
            state = .chunkSize
        } else {
            state = .length(head["content-length"].flatMap { Int($0) } ?? 0)
        }
        return .head(head)
    }

    private mutating func takeBody(_ left: Int, _ after: (Int) -> State) -> Event? {
        guard left > 0 else {
            state = .head
            return .end([])
        }
        guard !bytes.isEmpty else { return nil }
        let piece = bytes.prefix(left)
        bytes = bytes.dropFirst(left)
        state = after(left - piece.count)
        return .body(piece)
    }

    /// Returns the end of the first head, including its empty line.
    static func end(of bytes: ArraySlice<UInt8>) -> Int? {
        var lineStart = bytes.startIndex
        while let newline = bytes[lineStart...].firstIndex(of: 10) {
            let line = bytes[lineStart..<newline]
            if line.isEmpty || line.elementsEqual([13]) { return newline + 1 }
            lineStart = newline + 1
        }
        return nil
    }

    private static func field(_ line: String) -> HTTPTestRequest.Field? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...]
        return HTTPTestRequest.Field(String(line[..<colon]), value.trimmed)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { String(start[...$0]) } ?? ""
    }
}
#endif
