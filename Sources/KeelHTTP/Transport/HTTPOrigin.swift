public import HTTPTypes

/// A scheme, a host and a port: what limits, budgets and circuits are counted for.
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, the host and, where it is not the scheme's own, the port, in small letters.
    public let description: String

    /// The origin of a request (RFC 6454 section 4), without user information.
    public init(_ head: HTTPRequest) {
        let scheme = (head.scheme ?? "http").lowercased()
        // By bytes, not by characters: each request asks.
        var place = (head.authority ?? "").lowercased().utf8[...]
        if let at = place.lastIndex(of: UInt8(ascii: "@")) {
            place = place[place.index(after: at)...]
        }
        let standardPort = (scheme == "https" ? ":443" : ":80").utf8
        if place.count > standardPort.count,
            place.suffix(standardPort.count).elementsEqual(standardPort)
        {
            place = place.dropLast(standardPort.count)
        }
        description = scheme + "://" + String(Substring(place))
    }
}
