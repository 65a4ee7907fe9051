/// The names of header fields, query items, form fields and JSON keys whose values are removed.
///
/// Case and separators are ignored: `api-key`, `API_KEY` and `apiKey` are one name. Percent-encoded names are decoded.
public struct SensitiveNames: Sendable, Hashable {
    private var whole: Set<[UInt8]> = []
    // Searched linearly, which is faster with an array than with a set.
    private var endings: [[UInt8]] = []
    private var parts: [[UInt8]] = []
    /// The last bytes of whole names and endings, and the first bytes of parts, as bit sets.
    private var lasts: UInt64 = 0
    private var firsts: UInt64 = 0

    /// Creates an empty set of names.
    public init() {}

    /// The names of credentials, session identifiers, signatures and numbers that identify a person or a card.
    public static let standard: SensitiveNames = {
        var names = SensitiveNames()
        for name in [
            "auth", "pass", "pwd", "pin", "otp", "totp", "mfa code", "jwt", "bearer", "sid",
            "sig", "session", "session key", "cookies", "set cookie 2", "tokens", "access tokens",
            "refresh tokens", "api keys", "secrets", "cvv", "cvc", "cvv2", "cvc2", "ssn", "iban",
            "pan", "card number", "cc number", "credit card", "social security number",
            "code verifier", "assertion", "client assertion", "saml response", "saml request",
            "x amz security token", "encryption key", "signing key", "master key", "recovery code",
        ] { names.insert(name) }
        for ending in [
            "token", "secret", "api key", "secret key", "private key", "access key",
            "account key", "signature", "cookie", "credential", "credentials", "session id",
            "jsessionid", "phpsessid", "card number",
        ] { names.insert(endingIn: ending) }
        for part in ["password", "passwd", "passphrase", "passcode", "authorization"] {
            names.insert(containing: part)
        }
        return names
    }()

    /// Adds a name.
    public mutating func insert(_ name: String) {
        let plain = Self.plain(name.utf8)
        guard let last = plain.last else { return }
        whole.insert(plain)
        lasts |= Self.bit(last)
    }

    /// Adds all names that end in a text: `token` covers `accessToken` and `x-csrf-token`.
    public mutating func insert(endingIn ending: String) {
        let plain = Self.plain(ending.utf8)
        guard let last = plain.last, !endings.contains(plain) else { return }
        endings.append(plain)
        lasts |= Self.bit(last)
    }

    /// Adds all names that contain a text.
    public mutating func insert(containing part: String) {
        let plain = Self.plain(part.utf8)
        guard let first = plain.first, !parts.contains(plain) else { return }
        parts.append(plain)
        firsts |= Self.bit(first)
    }

    /// Removes a name, an ending or a part.
    public mutating func remove(_ name: String) {
        let plain = Self.plain(name.utf8)
        whole.remove(plain)
        endings.removeAll { $0 == plain }
        parts.removeAll { $0 == plain }
        lasts = (whole.compactMap(\.last) + endings.compactMap(\.last))
            .reduce(0) { $0 | Self.bit($1) }
        firsts = parts.compactMap(\.first).reduce(0) { $0 | Self.bit($1) }
    }

    /// Returns whether the values of a name are removed.
    public func contains(_ name: some StringProtocol) -> Bool {
        contains(utf8: name.utf8)
    }

    func contains(utf8 name: some Collection<UInt8>) -> Bool {
        // Names are short, so normalizing one needs no heap allocation.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count) { plain in
            var count = 0
            Self.makePlain(name) { byte in
                plain[count] = byte
                count += 1
            }
            return contains(plain: UnsafeBufferPointer(rebasing: plain[..<count]))
        }
    }

    private func contains(plain: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let last = plain.last else { return false }
        if lasts & Self.bit(last) != 0 {
            if whole.contains(Array(plain)) { return true }
            for ending in endings where plain.ends(with: ending) { return true }
        }
        for start in plain.indices where firsts & Self.bit(plain[start]) != 0 {
            for part in parts where plain[start...].starts(with: part) { return true }
        }
        return false
    }

    /// Returns a bit for a byte; bytes may share a bit, and names are then compared in vain.
    private static func bit(_ byte: UInt8) -> UInt64 { 1 << UInt64(byte & 63) }

    /// Returns the name in lowercase and without separators.
    static func plain(_ name: some Collection<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(name.count)
        makePlain(name) { plain.append($0) }
        return plain
    }

    private static func makePlain(
        _ name: some Collection<UInt8>,
        _ append: (UInt8) -> Void
    ) {
        var index = name.startIndex
        while index != name.endIndex {
            var byte = name[index]
            name.formIndex(after: &index)
            if byte == UInt8(ascii: "%"), index != name.endIndex,
                let high = name[index].hexDigitValue
            {
                let second = name.index(after: index)
                if second != name.endIndex, let low = name[second].hexDigitValue {
                    byte = high << 4 | low
                    index = name.index(after: second)
                }
            }
            if byte.isASCIIAlphanumeric || byte >= 0x80 { append(byte.asciiLowercased) }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func ends(with other: [UInt8]) -> Bool {
        count >= other.count && self[(count - other.count)...].elementsEqual(other)
    }
}
