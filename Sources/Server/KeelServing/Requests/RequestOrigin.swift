import HTTPTypes

/// A check that rejects requests from web pages of other sites.
///
/// A page can point a host name of its own to this machine and then send requests as if to its own server; the browser
/// sends that name in `Host`. A page can also send requests to this machine directly; the browser then sends the page's
/// origin in `Origin` (RFC 6454 section 7).
struct RequestOrigin {
    private let allowed: Set<String>

    init(_ configuration: StorageServer.Configuration) {
        allowed = configuration.allowedAuthorities
    }

    /// Rejects a request for another host, or from the page of another site.
    func check(_ head: HTTPRequest) throws(ServingFailure) {
        if let authority = head.authority, !isAllowed(authority) {
            throw .forbidden(
                "the request is for “\(authority.prefix(100))”, which is not a name of this server; "
                    + "add it to allowedAuthorities, or use 127.0.0.1"
            )
        }
        for origin in head.headerFields[values: .origin] {
            let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].isEmpty, isAllowed(String(parts[2])) else {
                throw .forbidden(
                    "requests from pages of “\(origin.prefix(100))” are not allowed"
                )
            }
        }
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

    /// Returns the host without its port; nil if the authority is malformed.
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
