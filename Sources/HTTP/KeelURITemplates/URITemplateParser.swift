import KeelCore

/// A parser of URI templates (RFC 6570 section 2).
struct URITemplateParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func parse() throws(URITemplateError) -> [URITemplate.Part] {
        var parts: [URITemplate.Part] = []
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "{") {
                parts.append(.expression(try expression()))
            } else {
                parts.append(.literal(try literal()))
            }
        }
        return parts
    }

    private mutating func literal() throws(URITemplateError) -> String {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "{") {
            switch bytes[position] {
            case UInt8(ascii: "}"):
                throw URITemplateError(.unbalancedBrace, at: position)
            case UInt8(ascii: "%"):
                guard PercentEncoding.isTriplet(bytes[position...]) else {
                    throw URITemplateError(.literal, at: position)
                }
            // Erratum 6937 of the RFC allows the apostrophe in a literal.
            case ...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
                UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"):
                throw URITemplateError(.literal, at: position)
            default:
                break
            }
            position += 1
        }
        return PercentEncoding.encodeReserved(Array(bytes[start..<position]))
    }

    private mutating func expression() throws(URITemplateError) -> URITemplate.Expression {
        let brace = position
        guard let end = bytes[brace...].firstIndex(of: UInt8(ascii: "}")) else {
            throw URITemplateError(.unbalancedBrace, at: brace)
        }
        position = brace + 1
        if let inner = bytes[position..<end].firstIndex(of: UInt8(ascii: "{")) {
            throw URITemplateError(.unbalancedBrace, at: inner)
        }
        let mark = try mark(before: end)
        var variables: [URITemplate.Variable] = []
        var start = position
        while true {
            let next = bytes[start..<end].firstIndex(of: UInt8(ascii: ",")) ?? end
            variables.append(try variable(start, next))
            guard next < end else { break }
            start = next + 1
        }
        position = end + 1
        return URITemplate.Expression(mark: mark, variables: variables)
    }

    private mutating func mark(before end: Int) throws(URITemplateError) -> URITemplate.Mark {
        let byte = bytes[position]
        guard position < end, !Self.isNameByte(byte), byte != UInt8(ascii: "%") else {
            return .simple
        }
        if let mark = URITemplate.Mark(rawValue: byte), mark != .simple {
            position += 1
            return mark
        }
        guard !"=,!@|$*:-~".utf8.contains(byte) else {
            throw URITemplateError(.unknownOperator, at: position)
        }
        return .simple
    }

    private func variable(
        _ start: Int,
        _ end: Int
    ) throws(URITemplateError) -> URITemplate.Variable {
        var place = start
        var previousIsDot = true
        while place < end {
            let byte = bytes[place]
            if Self.isNameByte(byte) {
                place += 1
                previousIsDot = false
            } else if byte == UInt8(ascii: "%"), PercentEncoding.isTriplet(bytes[place..<end]) {
                place += 3
                previousIsDot = false
            } else if byte == UInt8(ascii: "."), !previousIsDot {
                place += 1
                previousIsDot = true
            } else {
                break
            }
        }
        let isModified =
            place < end && [UInt8(ascii: "*"), UInt8(ascii: ":")].contains(bytes[place])
        guard !previousIsDot, place == end || isModified else {
            throw URITemplateError(.variableName, at: place)
        }
        return URITemplate.Variable(
            name: String(decoding: bytes[start..<place], as: UTF8.self),
            modifier: try modifier(place, end),
            offset: start
        )
    }

    private func modifier(
        _ start: Int,
        _ end: Int
    ) throws(URITemplateError) -> URITemplate.Modifier? {
        guard start < end else { return nil }
        let rest = bytes[(start + 1)..<end]
        if bytes[start] == UInt8(ascii: "*") {
            guard rest.isEmpty else { throw URITemplateError(.modifier, at: start + 1) }
            return .explode
        }
        let isNumber = rest.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...4).contains(rest.count), isNumber, rest.first != UInt8(ascii: "0"),
            let length = Int(String(decoding: rest, as: UTF8.self))
        else {
            throw URITemplateError(.modifier, at: start + 1)
        }
        return .prefix(length)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "_")
    }
}
