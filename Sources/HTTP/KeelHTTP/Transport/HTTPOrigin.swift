public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The scheme, host and port of an address (RFC 6454 section 4).
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, in lowercase.
    public let scheme: String

    /// The host, in lowercase; an IPv6 address is in brackets.
    public let host: String

    /// The port; the scheme's default if the address has none.
    public let port: Int

    /// Creates the origin of a request, or nil if the request has no valid one.
    public init?(_ head: HTTPRequest) {
        // User information names a user in addition to a host; such an authority is refused.
        guard let authority = head.authority, !authority.utf8.contains(UInt8(ascii: "@")) else {
            return nil
        }
        self.init(
            scheme: (head.scheme ?? "http").lowercasedIfNeeded,
            authority: authority.lowercasedIfNeeded
        )
    }

    /// Creates the origin of a URL, or nil if it is not an HTTP URL.
    public init?(_ url: URL) {
        guard let address = try? BaseAddress(url) else { return nil }
        self.init(scheme: address.scheme, authority: address.authority.lowercasedIfNeeded)
    }

    private init?(scheme: String, authority: String) {
        guard scheme == "https" || scheme == "http" else { return nil }
        let bytes = authority.utf8
        var host = authority[...]
        var port = scheme == "https" ? 443 : 80
        // The last colon precedes the port unless it is inside an IPv6 address.
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

    /// The origin as text, without the scheme's default port.
    public var description: String {
        port == (scheme == "https" ? 443 : 80)
            ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}

extension HTTPCall {
    /// The key under which limits, budgets and circuits are counted.
    ///
    /// All calls without a valid address share one key; each of them fails anyway.
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
    /// The text in lowercase; returns itself without a copy if it already is.
    fileprivate var lowercasedIfNeeded: String {
        let isLowercase = utf8.allSatisfy {
            $0 < 0x80 && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        }
        return isLowercase ? self : lowercased()
    }
}
