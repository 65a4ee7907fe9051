import Foundation
@_spi(RawSyntax) import SwiftSyntax

enum AllowComments {
    private static let marker = Array("keel:allow".utf8)

    static func find(
        in tree: SourceFileSyntax,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ lines: LineTable
    ) -> [AllowFact] {
        var found: [AllowFact] = []
        var start = 0
        while let hit = firstMarker(in: bytes, from: start) {
            start = hit + marker.count
            let line = lines.line(at: hit)
            guard let comment = lineComment(around: hit, in: tree, bytes, lines) else { continue }
            let text = String(
                decoding: bytes[hit..<comment.upperBound],
                as: UTF8.self
            )
            guard var allow = parse(text) else { continue }
            allow.place = lines.place(at: hit)
            let lead = bytes[lines.start(ofLine: line, in: bytes.count)..<comment.lowerBound]
            let standsAlone = lead.allSatisfy { $0 <= 0x20 }
            let codeLine = standsAlone ? nextCodeLine(after: line, bytes, lines) : line
            allow.line = Int32(codeLine + 1)
            let last = standsAlone ? declarationLine(at: codeLine, bytes, lines) : line
            allow.lastLine = Int32(last + 1)
            found.append(allow)
        }
        return found
    }

    private static func firstMarker(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var position = start + 4
        // The colon is the rarest of its characters.
        while position < bytes.count,
            let found = memchr(base + position, Int32(marker[4]), bytes.count - position)
        {
            let first = UnsafeRawPointer(found) - UnsafeRawPointer(base) - 4
            if first + marker.count <= bytes.count,
                memcmp(base + first, marker, marker.count) == 0
            {
                return first
            }
            position = first + 5
        }
        return nil
    }

    private static func lineComment(
        around offset: Int,
        in tree: SourceFileSyntax,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ lines: LineTable
    ) -> Range<Int>? {
        guard let token = tree.token(at: AbsolutePosition(utf8Offset: offset)) else { return nil }
        func search(_ trivia: Trivia, from start: Int) -> Range<Int>? {
            var position = start
            for piece in trivia {
                let range = position..<(position + piece.sourceLength.utf8Length)
                position = range.upperBound
                if case .lineComment = piece, range.contains(offset) { return range }
            }
            return nil
        }
        return search(token.leadingTrivia, from: token.position.utf8Offset)
            ?? search(
                token.trailingTrivia,
                from: token.endPositionBeforeTrailingTrivia.utf8Offset
            )
    }

    private static func nextCodeLine(
        after line: Int,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ lines: LineTable
    ) -> Int {
        var next = line + 1
        var isInBlock = false
        while next < lines.count {
            let range =
                lines.start(
                    ofLine: next,
                    in: bytes.count
                )..<lines.start(ofLine: next + 1, in: bytes.count)
            var words = bytes[range].drop { $0 <= 0x20 }
            while isInBlock || words.starts(with: Array("/*".utf8)) {
                let end = words.indices.dropLast().first {
                    words[$0] == UInt8(ascii: "*") && words[$0 + 1] == UInt8(ascii: "/")
                }
                isInBlock = end == nil
                guard let end else { break }
                words = words[(end + 2)...].drop { $0 <= 0x20 }
            }
            if !isInBlock, !words.isEmpty, !words.starts(with: Array("//".utf8)) { return next }
            next += 1
        }
        return line
    }

    /// The next line with more than attributes, which may be the line itself.
    private static func declarationLine(
        at line: Int,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ lines: LineTable
    ) -> Int {
        var last = line
        while true {
            let range =
                lines.start(
                    ofLine: last,
                    in: bytes.count
                )..<lines.start(
                    ofLine: last + 1,
                    in: bytes.count
                )
            guard hasOnlyAttributes(bytes[range]) else { return last }
            let next = nextCodeLine(after: last, bytes, lines)
            guard next > last else { return last }
            last = next
        }
    }

    /// Whether a line has only attributes, none of which continues on the next line.
    private static func hasOnlyAttributes(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = line.drop { $0 <= 0x20 }
        guard rest.first == UInt8(ascii: "@") else { return false }
        while rest.first == UInt8(ascii: "@") {
            rest = rest.drop { $0 > 0x20 && $0 != UInt8(ascii: "(") }
            if rest.first == UInt8(ascii: "(") {
                var depth = 0
                let end = rest.firstIndex { byte in
                    if byte == UInt8(ascii: "(") { depth += 1 }
                    if byte == UInt8(ascii: ")") { depth -= 1 }
                    return depth == 0
                }
                guard let end else { return false }
                rest = rest[rest.index(after: end)...]
            }
            rest = rest.drop { $0 <= 0x20 }
        }
        return rest.isEmpty || rest.starts(with: Array("//".utf8))
    }

    /// Parses `keel:allow(rule, rule) reason`.
    static func parse(_ text: String) -> AllowFact? {
        var rest = text.dropFirst(marker.count)
        let isForFile = rest.hasPrefix("-file")
        if isForFile { rest = rest.dropFirst("-file".count) }
        guard rest.first == "(", let end = rest.firstIndex(of: ")") else { return nil }
        let rules = rest[rest.index(after: rest.startIndex)..<end].split(separator: ",")
            .map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        let reason = rest[rest.index(after: end)...]
            .drop { $0.isWhitespace || $0 == ":" || $0 == "—" || $0 == "-" }
        return AllowFact(
            rules: rules,
            reason: String(reason.reversed().drop { $0.isWhitespace }.reversed()),
            line: 1,
            lastLine: 1,
            isForFile: isForFile,
            place: .start
        )
    }
}
