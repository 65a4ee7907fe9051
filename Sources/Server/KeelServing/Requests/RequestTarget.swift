import HTTPTypes
import KeelCore

/// The parsed and decoded target of a request (RFC 3986 sections 2.1 and 3).
struct RequestTarget {
    /// The decoded segments of the path, which may contain slashes.
    let segments: [String]
    /// The custom method after the last colon of the path, where the protocol allows one.
    let verb: String?
    let items: RequestItems

    /// Parses the target of a request.
    ///
    /// - Throws: A failure if the target is not a path, or its percent-encoding is not valid UTF-8.
    init(_ text: String, method: HTTPRequest.Method) throws(ServingFailure) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "?"),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard let path = parts.first, path.first == UInt8(ascii: "/") else {
            throw .invalid("the request target is not a path")
        }
        var raw = path.dropFirst().split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        var verb: String?
        // Document ids may contain colons, so a colon introduces a method only where the protocol allows one.
        let root = "documents:".utf8
        if let last = raw.last, method == .post || raw.count == 6 && last.starts(with: root),
            let colon = last.lastIndex(of: UInt8(ascii: ":"))
        {
            verb = String(decoding: last[last.index(after: colon)...], as: UTF8.self)
            raw[raw.count - 1] = last[..<colon]
        }
        var segments: [String] = []
        segments.reserveCapacity(raw.count)
        for segment in raw {
            guard let decoded = Self.decoded(segment) else { throw Self.badEncoding }
            segments.append(decoded)
        }
        self.segments = segments
        self.verb = verb
        items = try RequestItems(parts.count > 1 ? parts[1] : Substring().utf8)
    }

    static let badEncoding = ServingFailure.invalid(
        "the percent-encoding of the request’s target is broken, or is not that of UTF-8"
    )

    /// Decodes percent-encoded text; returns nil if it is invalid.
    static func decoded(_ text: Substring.UTF8View, plusIsSpace: Bool = false) -> String? {
        let isPlain = text.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }
        guard !isPlain else { return String(Substring(text)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexDigitValue,
                    let low = rest.popFirst()?.hexDigitValue
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
