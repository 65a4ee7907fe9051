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

    /// Creates the origin of a request, or nil if its scheme or authority is not valid.
    public init?(_ head: HTTPRequest) {
        guard let authority = head.authority else { return nil }
        self.init(scheme: head.scheme ?? "http", authority: authority)
    }

    /// Creates the origin of an `http` or `https` URL.
    ///
    /// Nil for any other URL, and for one without a host or with user information.
    public init?(_ url: URL) {
        guard let address = try? BaseAddress(absolute: url) else { return nil }
        self.init(scheme: address.scheme, authority: address.authority)
    }

    private init?(scheme: String, authority: String) {
        let isKnown = scheme == "http" || scheme == "https"
        let scheme = isKnown ? scheme : scheme.lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        // Every call does this, so the text is read once.
        let bytes = authority.utf8
        var end = bytes.endIndex
        var isLowercase = true
        for index in bytes.indices {
            switch bytes[index] {
            // User information names a user in addition to a host; such an authority is refused.
            case UInt8(ascii: "@"): return nil
            // The last colon precedes the port unless it is inside an IPv6 address.
            case UInt8(ascii: ":"): end = index
            case UInt8(ascii: "]"): end = bytes.endIndex
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...: isLowercase = false
            default: break
            }
        }
        let host = String(authority[..<end])
        let digits = Substring(bytes[end...].dropFirst())
        let port = digits.isEmpty ? (scheme == "https" ? 443 : 80) : UInt16(digits)
        guard let port, !host.isEmpty else { return nil }
        self.scheme = scheme
        self.host = isLowercase ? host : host.lowercased()
        self.port = Int(port)
    }

    /// The origin without the scheme's default port.
    public var description: String {
        port == (scheme == "https" ? 443 : 80)
            ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}

extension HTTPCall {
    /// The key under which limits, budgets and circuits are counted; all calls without a valid address share one.
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
