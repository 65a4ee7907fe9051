import HTTPTypes

/// The target of a request, taken apart and decoded (RFC 3986 sections 2.1 and 3).
struct RequestTarget {
    /// The segments of the path; one that held `%2F` has a slash in it.
    let segments: [String]
    /// What stands behind the last colon of the path, where a method of the protocol can stand.
    let verb: String?
    /// What follows the question mark.
    let items: RequestItems

    /// Takes the target of a request apart.
    ///
    /// - Throws: A failure if it is no path, or its percent-encoding is not UTF-8.
    init(_ text: String, method: HTTPRequest.Method) throws(ServingFailure) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "?"),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard let path = parts.first, path.first == UInt8(ascii: "/") else {
            throw .invalid("the target of the request is no path")
        }
        var raw = path.dropFirst().split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        var verb: String?
        // The id of a document may hold a colon: it is a method's only where methods can be.
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

    /// Decodes percent-encoding, nil if it is broken.
    ///
    /// - Parameters:
    ///   - text: What is encoded.
    ///   - plusIsSpace: Whether a plus sign stands for a space, as in the forms of HTML.
    /// - Returns: The text, or nil.
    static func decoded(_ text: Substring.UTF8View, plusIsSpace: Bool = false) -> String? {
        let isPlain = text.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }
        guard !isPlain else { return String(Substring(text)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit),
                    let low = rest.popFirst().flatMap(digit)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
