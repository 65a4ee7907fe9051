import HTTPTypes
import KeelHTTP

/// A check that rejects requests from web pages of other sites.
///
/// A page can point a host name of its own to this machine: the browser sends that name in `Host`. If a page sends
/// requests to this machine directly, the browser sends the page's origin in `Origin` (RFC 6454 section 7).
struct RequestOrigin {
    private let allowed: Set<String>
    private let origins: Set<String>

    init(_ configuration: StorageServer.Configuration) {
        allowed = configuration.allowedAuthorities
        origins = configuration.allowedOrigins
    }

    func check(_ head: HTTPRequest) throws(ServingFailure) {
        if let authority = head.authority, !isAllowed(authority) {
            throw .forbidden(
                "the request is for “\(authority.prefix(100))”, which is not a name of this server; "
                    + "add it to allowedAuthorities (keel serve --allow-host), or use 127.0.0.1"
            )
        }
        for origin in head.headerFields[values: .origin] where !isAllowedOrigin(origin) {
            throw .forbidden(
                "requests from pages of “\(origin.prefix(100))” are not allowed; "
                    + "add it to allowedOrigins"
            )
        }
    }

    /// Lets the page that sent a request read the reply (Fetch Standard, section 3.3).
    func share(_ reply: inout HTTPReply, with head: HTTPRequest) {
        let sent = head.headerFields[values: .origin]
        guard let origin = sent.first, sent.count == 1, isAllowedOrigin(origin) else { return }
        reply.head.headerFields[.accessControlAllowOrigin] = origin
        reply.head.headerFields[.accessControlAllowCredentials] = "true"
        reply.head.headerFields[values: .vary].append("Origin")
    }

    private func isAllowedOrigin(_ origin: String) -> Bool {
        if origins.contains(origin) { return true }
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[1].isEmpty && isAllowed(String(parts[2]))
    }

    private func isAllowed(_ authority: String) -> Bool {
        let authority = authority.lowercased()
        if !allowed.isEmpty, allowed.contains(where: { $0.lowercased() == authority }) {
            return true
        }
        guard let host = Self.host(of: authority) else { return false }
        if LoopbackAddress.contains(host) { return true }
        return !allowed.isEmpty && allowed.contains { $0.lowercased() == host }
    }

    /// Returns nil if the authority is malformed.
    private static func host(of authority: String) -> String? {
        let bytes = authority.utf8
        let bracket = bytes.lastIndex(of: UInt8(ascii: "]"))
        let end = bracket.map(bytes.index(after:)) ?? bytes.startIndex
        guard let colon = bytes[end...].firstIndex(of: UInt8(ascii: ":")) else { return authority }
        let port = bytes[bytes.index(after: colon)...]
        guard port.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return String(authority[..<colon])
    }
}

/// A test for loopback addresses.
public enum LoopbackAddress: Sendable {
    /// Returns whether a host is `localhost`, in 127.0.0.0/8 (RFC 1122 section 3.2.1.3) or `::1`.
    ///
    /// - Parameter host: The host, without a port; an IPv6 address with or without brackets.
    /// - Returns: Whether the host is a loopback address; false for IPv4 addresses in shortened notation.
    public static func contains(_ host: String) -> Bool {
        switch host.lowercased() {
        case "127.0.0.1", "localhost", "::1", "[::1]": return true
        default: break
        }
        let dot = UInt8(ascii: ".")
        let numbers = host.utf8.split(separator: dot, omittingEmptySubsequences: false)
        guard numbers.count == 4, numbers[0].elementsEqual("127".utf8) else { return false }
        return numbers.allSatisfy { number in
            number.count <= 3 && number.allSatisfy { (0x30...0x39).contains($0) }
                && UInt8(Substring(number)) != nil
        }
    }
}
