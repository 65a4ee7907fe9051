extension SecretScanner {
    /// Returns the range of a token that begins here, or that follows the name of a scheme here.
    func credential(at start: Int) -> Range<Int>? {
        guard isBoundary(before: start) else { return nil }
        switch bytes[start] {
        case UInt8(ascii: "b"), UInt8(ascii: "B"):
            return credential(after: "bearer", at: start) ?? credential(after: "basic", at: start)
        case UInt8(ascii: "e"):
            return webToken(at: start)
        default:
            return prefixedKey(at: start)
        }
    }

    private func credential(after scheme: StaticString, at start: Int) -> Range<Int>? {
        let length = scheme.utf8CodeUnitCount
        guard matches(scheme, at: start, ignoringCase: true) else { return nil }
        let begin = end(of: start + length, limit: 4) { $0 == UInt8(ascii: " ") }
        guard begin > start + length else { return nil }
        let word = end(of: begin, where: Self.isTokenPart)
        let end = end(of: word) { $0 == UInt8(ascii: "=") }
        // Padding is at the end; elsewhere an equals sign follows a name.
        guard end == word || isBoundary(after: end) else { return nil }
        return isOpaque(begin..<end) ? begin..<end : nil
    }

    private func isOpaque(_ range: Range<Int>) -> Bool {
        guard range.count >= 4 else { return false }
        return range.count >= 20
            || bytes[range].dropFirst().contains { $0.isASCIIDigit || $0.isASCIIUppercase }
            || bytes[range].contains { "+/=~".utf8.contains($0) }
    }

    /// Returns whether a byte belongs to a token68 (RFC 9110 section 11.2), without its padding.
    private static func isTokenPart(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-._~+/".utf8.contains(byte)
    }

    /// Returns the range of a JSON Web Token, whose first part is the base64url form of a JSON object.
    private func webToken(at start: Int) -> Range<Int>? {
        guard matches("eyJ", at: start) else { return nil }
        var dots = 0
        let end = end(of: start) { byte in
            if byte == UInt8(ascii: ".") { dots += 1 }
            return byte.isASCIIAlphanumeric || "-_.=".utf8.contains(byte)
        }
        return dots > 0 && end - start >= 16 ? start..<end : nil
    }

    private func prefixedKey(at start: Int) -> Range<Int>? {
        guard Self.mayBeginKey(bytes[start], self[start + 1], self[start + 2]) else { return nil }
        for prefix in Self.prefixes
        where bytes[start] == prefix.first && matches(prefix.text, at: start) {
            let begin = start + prefix.text.utf8CodeUnitCount
            let end = end(of: begin) {
                $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".")
            }
            if end - begin >= prefix.length { return start..<end }
        }
        return nil
    }

    private struct Prefix: Sendable {
        let text: StaticString
        /// The minimum number of bytes after the prefix.
        let length: Int
        let first: UInt8
        let second: UInt8
        let third: UInt8

        init(_ text: StaticString, _ length: Int) {
            self.text = text
            self.length = length
            first = text.withUTF8Buffer { $0[0] }
            second = text.withUTF8Buffer { $0[1] }
            third = text.withUTF8Buffer { $0[2] }
        }
    }

    // Publishable keys, such as Stripe's "pk_", are not secrets.
    private static let prefixes: [Prefix] = [
        Prefix("sk_live_", 16), Prefix("sk_test_", 16), Prefix("rk_live_", 16),
        Prefix("rk_test_", 16), Prefix("whsec_", 16), Prefix("sk-", 20), Prefix("ghp_", 30),
        Prefix("gho_", 30), Prefix("ghu_", 30), Prefix("ghs_", 30), Prefix("ghr_", 30),
        Prefix("github_pat_", 30), Prefix("glpat-", 16), Prefix("xoxb-", 10), Prefix("xoxp-", 10),
        Prefix("xoxa-", 10), Prefix("xoxs-", 10), Prefix("AKIA", 16), Prefix("ASIA", 16),
        Prefix("AIza", 30), Prefix("ya29.", 16), Prefix("SG.", 30), Prefix("hf_", 20),
        Prefix("npm_", 30), Prefix("shpat_", 20), Prefix("AGE-SECRET-KEY-1", 20),
    ]

    static func mayBeginKey(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
        first < 128 && seconds[Int(first)] & bit(second) != 0
            && thirds[Int(first)] & bit(third) != 0
    }

    /// For each first byte of a prefix, the possible second and third bytes.
    private static let seconds = bits(of: \.second)
    private static let thirds = bits(of: \.third)

    private static func bits(of byte: (Prefix) -> UInt8) -> [UInt32] {
        prefixes.reduce(into: [UInt32](repeating: 0, count: 128)) { bits, prefix in
            bits[Int(prefix.first)] |= bit(byte(prefix))
        }
    }

    /// Returns a bit for the lower bits of a byte; bytes may share a bit, and are then checked in vain.
    @inline(__always)
    private static func bit(_ byte: UInt8) -> UInt32 { 1 << UInt32(byte & 31) }

    /// Returns the range of a PEM private key (RFC 7468), up to the end of its armor or of the text.
    func privateKey(at start: Int) -> Range<Int>? {
        guard patterns.contains(.credentials), matches("-----BEGIN ", at: start) else { return nil }
        let labelEnd = end(of: start + 11, limit: 64) {
            $0.isASCIIUppercase || $0.isASCIIDigit || $0 == UInt8(ascii: " ")
        }
        guard labelEnd - start >= 11 + 11, matches("PRIVATE KEY", at: labelEnd - 11) else {
            return nil
        }
        var index = labelEnd
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "-"), matches("-----END ", at: index) {
                let end = end(of: index + 9, limit: 64) { $0 != UInt8(ascii: "-") }
                return start..<self.end(of: end, limit: 5) { $0 == UInt8(ascii: "-") }
            }
            index += 1
        }
        return start..<bytes.count
    }

    /// Returns the range of the user information of a URL whose scheme ends with this colon.
    func userInformation(after colon: Int) -> Range<Int>? {
        guard patterns.contains(.credentials), self[colon + 1] == UInt8(ascii: "/"),
            self[colon + 2] == UInt8(ascii: "/")
        else { return nil }
        let begin = colon + 3
        var end = end(of: begin) { Self.isInURL($0) && !"/?#".utf8.contains($0) }
        if isCutOff(begin..<end) { end = self.end(of: end, limit: 256, where: Self.isInURL) }
        guard let sign = bytes[begin..<end].lastIndex(of: UInt8(ascii: "@")), sign > begin else {
            return nil
        }
        return begin..<sign
    }

    private static func isInURL(_ byte: UInt8) -> Bool {
        !byte.isASCIISpace && !"\"'<>".utf8.contains(byte)
    }

    /// Returns whether an unencoded `/`, `?` or `#` in a password has cut off an authority, so that its port is not a
    /// number.
    private func isCutOff(_ authority: Range<Int>) -> Bool {
        let text = bytes[authority]
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text.first != UInt8(ascii: "["),
            !text.contains(UInt8(ascii: "@"))
        else { return false }
        return !text[(colon + 1)...].allSatisfy(\.isASCIIDigit)
    }

    // MARK: - Email

    /// Returns the range of the address around an at sign, which may be percent-encoded.
    func emailAddress(around sign: Int, signLength: Int) -> Range<Int>? {
        guard patterns.contains(.emailAddresses) else { return nil }
        // A literal at sign ends the run to its left, but one run may contain many encoded ones.
        let start = start(of: sign, limit: signLength == 1 ? .max : 320) { byte in
            byte.isASCIIAlphanumeric || byte >= 0x80 || "._%+-'".utf8.contains(byte)
        }
        guard start < sign else { return nil }
        let begin = sign + signLength
        var end = end(of: begin, limit: 255) { byte in
            byte.isASCIIAlphanumeric || byte >= 0x80 || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "-")
        }
        while end > begin, !bytes[end - 1].isASCIIAlphanumeric, bytes[end - 1] < 0x80 { end -= 1 }
        let domain = bytes[begin..<end]
        guard let dot = domain.lastIndex(of: UInt8(ascii: ".")), dot > begin,
            end - dot >= 3, bytes[(dot + 1)..<end].contains(where: { !$0.isASCIIDigit })
        else { return nil }
        // "icon@2x.png" is a file.
        if bytes[begin].isASCIIDigit, self[begin + 1] == UInt8(ascii: "x"),
            self[begin + 2] == UInt8(ascii: ".")
        {
            return nil
        }
        return start..<end
    }

    // MARK: - Words

    private func matches(_ text: StaticString, at start: Int, ignoringCase: Bool = false) -> Bool {
        text.withUTF8Buffer { text in
            guard start + text.count <= bytes.count else { return false }
            for offset in text.indices {
                let byte = bytes[start + offset]
                guard (ignoringCase ? byte.asciiLowercased : byte) == text[offset] else {
                    return false
                }
            }
            return true
        }
    }
}
