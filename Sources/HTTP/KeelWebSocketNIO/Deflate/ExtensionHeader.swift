#if WebSocket
internal import KeelCore

/// An extension in a `Sec-WebSocket-Extensions` field, with its parameters (RFC 6455 section 9.1).
struct ExtensionHeader: Equatable, Sendable {
    struct Parameter: Equatable, Sendable {
        var name: String
        var value: String?
    }

    var name: String
    var parameters: [Parameter]

    var description: String {
        parameters.reduce(name) { text, parameter in
            text + "; " + parameter.name + (parameter.value.map { "=\($0)" } ?? "")
        }
    }

    static func parse(_ values: [String]) -> [ExtensionHeader]? {
        var found: [ExtensionHeader] = []
        for value in values {
            var scanner = TokenScanner(value)
            repeat {
                // Empty list elements are skipped (RFC 9110 section 5.6.1.2).
                if scanner.peek() == UInt8(ascii: ",") || scanner.isAtEnd { continue }
                guard let name = scanner.token() else { return nil }
                var header = ExtensionHeader(name: name, parameters: [])
                while scanner.skip(";") {
                    guard let parameter = scanner.token() else { return nil }
                    var value: String?
                    if scanner.skip("=") {
                        guard let text = scanner.tokenOrQuoted() else { return nil }
                        value = text
                    }
                    header.parameters.append(.init(name: parameter, value: value))
                }
                found.append(header)
            } while scanner.skip(",")
            guard scanner.isAtEnd else { return nil }
        }
        return found
    }
}

/// A scanner for the tokens of a header field (RFC 9110 section 5.6.2).
struct TokenScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return rest.isEmpty
        }
    }

    mutating func peek() -> UInt8? {
        skipSpace()
        return rest.first
    }

    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func token() -> String? {
        skipSpace()
        let token = rest.prefix(while: Self.isTokenByte)
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    mutating func tokenOrQuoted() -> String? {
        guard skip("\"") else { return token() }
        var text: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                // The quoted text must be a token as well.
                guard !text.isEmpty, text.allSatisfy(Self.isTokenByte) else { return nil }
                return String(decoding: text, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            text.append(byte)
        }
        return nil
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
#endif
