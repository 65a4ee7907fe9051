import Foundation
@_spi(RawSyntax) import SwiftParser
@_spi(RawSyntax) import SwiftSyntax

/// Extracts facts from a file's syntax.
///
/// It walks the parser's raw nodes, in a fifth of the time that typed nodes take. They have no positions: that of a
/// token follows from its text, which points into the parser's copy of the file.
package struct FactExtractor {
    var facts = SourceFacts()

    /// The start of the parser's copy of the file.
    private let base: UnsafePointer<UInt8>?
    private let byteCount: Int
    let lines: LineTable
    /// The texts that are among ``strings``.
    private var texts: TextTable
    private var strings: [String] = []
    /// The identities of the recorded references.
    private var seen: TextTable
    private var line = 0

    // The surroundings of the current node.
    var declaration: Int32 = -1
    var context = ReferenceFact.Context.body
    var conditionDepth = 0
    var catchDepth = 0
    /// Whether the value of the next `try` is unused.
    var dropsValue = false
    /// Whether the value of the next closure is used.
    var usesClosure = false
    /// The names of generic parameters, which shadow types.
    var genericNames: [SyntaxText] = []
    /// The declared types of parameters and local variables.
    var localTypes: [(name: SyntaxText, type: SyntaxText)] = []

    /// Extracts the facts of a file in UTF-8.
    package static func facts(of bytes: UnsafeBufferPointer<UInt8>) -> SourceFacts {
        let tree = Parser.parse(source: bytes)
        return withExtendedLifetime(tree) {
            var extractor = FactExtractor(tree.raw, LineTable(bytes), byteCount: bytes.count)
            extractor.walk(tree.raw)
            if tree.raw.hasError {
                extractor.facts.notes.append(
                    SourceFacts.Note(
                        remark: .syntaxError,
                        place: extractor.lines.place(at: extractor.errorOffset(in: tree.raw))
                    )
                )
            }
            extractor.facts.allows = AllowComments.find(in: tree, bytes, extractor.lines)
            return extractor.facts
        }
    }

    private init(_ root: RawSyntax, _ lines: LineTable, byteCount: Int) {
        self.lines = lines
        self.byteCount = byteCount
        texts = TextTable(minimumCapacity: byteCount / 64)
        seen = TextTable(minimumCapacity: byteCount / 64)
        let first = Self.firstToken(of: root)?.tokenView
        let text = first?.rawText.baseAddress
        base = text.map { $0 - (first?.leadingTriviaByteLength ?? 0) }
    }

    // MARK: Tokens

    static func parts(of node: RawSyntax) -> [RawSyntax] {
        node.layoutView?.children.compactMap { $0 } ?? []
    }

    static func firstToken(of node: RawSyntax) -> RawSyntax? {
        guard let children = node.layoutView?.children else {
            return node.byteLength > 0 || node.tokenView?.rawKind == .endOfFile ? node : nil
        }
        for case let child? in children {
            if let token = firstToken(of: child) { return token }
        }
        return nil
    }

    private func offset(of text: SyntaxText) -> Int {
        guard let start = text.baseAddress, let base else { return 0 }
        return min(max(0, start - base), byteCount)
    }

    mutating func place(of text: SyntaxText) -> SourcePlace {
        lines.place(at: offset(of: text), near: &line)
    }

    mutating func place(of node: RawSyntax) -> SourcePlace {
        guard let token = Self.firstToken(of: node)?.tokenView else { return .start }
        return place(of: token.rawText)
    }

    /// The text of a token, without backticks.
    mutating func string(_ text: SyntaxText) -> String { strings[number(of: text)] }

    private mutating func number(of text: SyntaxText) -> Int {
        let (number, isNew) = texts.number(of: text.bytes)
        if isNew {
            var string = String(decoding: text.bytes, as: UTF8.self)
            if text.first == UInt8(ascii: "`") { string = string.filter { $0 != "`" } }
            strings.append(string)
        }
        return number
    }

    /// The first 80 characters of a text, for messages.
    mutating func shortened(_ text: SyntaxText) -> String {
        let bytes = text.bytes
        // In ASCII without carriage returns each byte is a character.
        let isPlain =
            bytes.first != UInt8(ascii: "`")
            && bytes.prefix(81).allSatisfy { $0 < 0x80 && $0 != 0x0D }
        guard isPlain else { return String(string(text).prefix(80)) }
        return string(SyntaxText(baseAddress: text.baseAddress, count: min(bytes.count, 80)))
    }

    static func text(_ text: SyntaxText, before byte: UInt8) -> SyntaxText {
        guard let base = text.baseAddress, let found = memchr(base, Int32(byte), text.count)
        else { return text }
        return SyntaxText(
            baseAddress: base,
            count: UnsafeRawPointer(found) - UnsafeRawPointer(base)
        )
    }

    /// The text of a node, without surrounding trivia.
    static func trimmedText(of node: RawSyntax) -> SyntaxText {
        guard let first = firstToken(of: node), let start = first.tokenView?.rawText.baseAddress
        else { return SyntaxText() }
        let leading = first.tokenView?.leadingTriviaByteLength ?? 0
        let trailing = lastToken(of: node)?.tokenView?.trailingTriviaByteLength ?? 0
        return SyntaxText(
            baseAddress: start,
            count: max(0, node.byteLength - leading - trailing)
        )
    }

    private static func lastToken(of node: RawSyntax) -> RawSyntax? {
        guard let children = node.layoutView?.children else {
            return node.byteLength > 0 ? node : nil
        }
        for case let child? in children.reversed() {
            if let token = lastToken(of: child) { return token }
        }
        return nil
    }

    // MARK: Syntax errors

    private func errorOffset(in root: RawSyntax) -> Int {
        var offset = 0
        func search(_ node: RawSyntax) -> Bool {
            guard node.hasError else {
                offset += node.byteLength
                return false
            }
            guard node.kind != .unexpectedNodes, let children = node.layoutView?.children else {
                return true
            }
            for case let child? in children where search(child) { return true }
            return false
        }
        guard search(root) else { return 0 }
        return min(offset, max(0, byteCount - 1))
    }

    /// The declared type of the nearest variable or parameter of a name; empty if a parameter's type has no single
    /// name.
    func localType(of name: SyntaxText) -> SyntaxText? {
        localTypes.last { $0.name == name }?.type
    }

    // MARK: References

    mutating func note(_ path: SyntaxText, call: SyntaxText = SyntaxText()) {
        guard !path.isEmpty else { return }
        let number = self.number(of: path)
        let callNumber = call.isEmpty ? -1 : self.number(of: call)
        let key = (
            UInt64(number) << 32 | UInt64(UInt32(bitPattern: declaration)),
            UInt64(UInt32(truncatingIfNeeded: callNumber)) << 8 | UInt64(context.rawValue)
        )
        let isNew = withUnsafeBytes(of: key) {
            seen.number(of: $0.bindMemory(to: UInt8.self)).isNew
        }
        guard isNew else { return }
        facts.references.append(
            ReferenceFact(
                path: Self.isOneWord(path) ? strings[number] : Self.joined(path),
                context: context,
                call: call.isEmpty ? "" : strings[callNumber],
                declaration: declaration,
                place: place(of: path)
            )
        )
    }

    private static func isOneWord(_ path: SyntaxText) -> Bool {
        for byte in path.bytes where byte <= 0x20 || byte == UInt8(ascii: "/") { return false }
        return true
    }

    /// A path without line breaks, whitespace and comments.
    private static func joined(_ path: SyntaxText) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.count)
        for line in path.bytes.split(separator: 0x0A) {
            for byte in line {
                if byte == UInt8(ascii: "/") { break }
                if byte > 0x20, byte != UInt8(ascii: "`") { bytes.append(byte) }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a word begins with a capital, or with a character outside of ASCII.
    static func looksLikeType(_ text: SyntaxText) -> Bool {
        for byte in text.bytes {
            if byte == UInt8(ascii: "_") || byte == UInt8(ascii: "`") { continue }
            return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte >= 0x80
        }
        return false
    }

    mutating func add(
        _ kind: OccurrenceFact.Kind,
        _ name: String,
        _ detail: String,
        _ node: RawSyntax
    ) {
        facts.occurrences.append(
            OccurrenceFact(
                kind: kind,
                name: name,
                detail: detail,
                declaration: declaration,
                place: place(of: node)
            )
        )
    }
}

extension SyntaxText {
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: baseAddress, count: count) }
}
