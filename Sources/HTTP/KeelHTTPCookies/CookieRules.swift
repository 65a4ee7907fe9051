/// The comparison of hosts, domains and paths of cookies (RFC 6265bis section 5.1).
enum CookieRules {
    /// Whether a host is equal to a domain or below it.
    static func domain(_ domain: String, matches host: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(".\(domain)") && !isAddress(host)
    }

    /// Whether a path is equal to a cookie's path or below it.
    static func path(_ path: String, matches target: String) -> Bool {
        if target == path { return true }
        guard target.hasPrefix(path) else { return false }
        return path.hasSuffix("/") || target.dropFirst(path.count).first == "/"
    }

    /// Returns the path of a cookie for which the server named none.
    static func defaultPath(of target: String) -> String {
        guard target.hasPrefix("/"), let slash = target.lastIndex(of: "/"),
            slash != target.startIndex
        else { return "/" }
        return String(target[..<slash])
    }

    /// Whether a host is an IP address, which has no domain above it.
    static func isAddress(_ host: String) -> Bool {
        if host.hasPrefix("[") || host.contains(":") { return true }
        // The last label of a name is never a number (WHATWG URL, section 3.5).
        guard let last = host.split(separator: ".").last else { return false }
        return last.utf8.allSatisfy { (0x30...0x39).contains($0) }
            || last.lowercased().hasPrefix("0x")
    }

    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || (isAddress(host) && host.hasPrefix("127."))
    }
}
