public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The scheme, host and port of an address (RFC 6454 section 4): whom a request goes to.
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, in small letters.
    public let scheme: String

    /// The host, in small letters, an IPv6 address in brackets.
    public let host: String

    /// The port; the usual one of the scheme where the address names none.
    public let port: Int

    /// The origin that a request goes to, or nil if the request names no valid one.
    public init?(_ head: HTTPRequest) {
        // An authority with user information names somebody as well as a place.
        guard let authority = head.authority, !authority.utf8.contains(UInt8(ascii: "@")) else {
            return nil
        }
        self.init(
            scheme: (head.scheme ?? "http").inSmallLetters,
            authority: authority.inSmallLetters
        )
    }

    /// The origin of a URL, or nil if it is not one of HTTP.
    public init?(_ url: URL) {
        guard let address = try? BaseAddress(url) else { return nil }
        self.init(scheme: address.scheme, authority: address.authority.inSmallLetters)
    }

    private init?(scheme: String, authority: String) {
        guard scheme == "https" || scheme == "http" else { return nil }
        let bytes = authority.utf8
        var host = authority[...]
        var port = scheme == "https" ? 443 : 80
        // The last colon begins the port, unless it stands inside an IPv6 address.
        if let colon = bytes.lastIndex(of: UInt8(ascii: ":")),
            !bytes[colon...].contains(UInt8(ascii: "]"))
        {
            host = authority[..<colon]
            let digits = authority[bytes.index(after: colon)...]
            if !digits.isEmpty {
                guard let number = UInt16(digits) else { return nil }
                port = Int(number)
            }
        }
        guard !host.isEmpty else { return nil }
        self.scheme = scheme
        self.host = String(host)
        self.port = port
    }

    /// The origin as text, the usual port left out.
    public var description: String {
        port == (scheme == "https" ? 443 : 80)
            ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}

extension HTTPCall {
    /// What limits, budgets and circuits are counted for.
    ///
    /// All calls without a valid address share one place: each of them fails anyway.
    var origin: HTTPOrigin { HTTPOrigin(head) ?? .nowhere }
}

extension HTTPOrigin {
    fileprivate static let nowhere = HTTPOrigin(scheme: "", host: "", port: 0)

    private init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }
}

extension String {
    /// The text in small letters: itself, at no cost, where it is that already.
    fileprivate var inSmallLetters: String {
        let isSmall = utf8.allSatisfy {
            $0 < 0x80 && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        }
        return isSmall ? self : lowercased()
    }
}
