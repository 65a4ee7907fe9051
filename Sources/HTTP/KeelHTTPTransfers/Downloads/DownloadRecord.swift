import HTTPTypes
import KeelCore
import KeelHTTP

/// A validator that proves that a server's file is unchanged, byte for byte.
enum StrongValidator: Codable, Hashable, Sendable {
    /// A strong entity tag, with its quotes.
    case entityTag(String)
    /// A strong modification date, as the server wrote it.
    case lastModified(String)

    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Reads the validator of a response for `If-Range` (RFC 9110 sections 8.8.2.2 and 13.1.5).
    ///
    /// A date counts only without any entity tag, and only if the response was made at least a minute later: a file may
    /// change twice within the second that a date resolves, and the clocks of file and server may differ.
    init?(_ fields: HTTPFields) {
        if let tag = fields[.eTag] {
            guard Self.isStrong(tag) else { return nil }
            self = .entityTag(tag)
            return
        }
        guard let text = fields[.lastModified], let modified = HTTPDate(text),
            let sent = fields[.date].flatMap({ HTTPDate($0) }),
            sent.seconds - modified.seconds >= 60
        else { return nil }
        self = .lastModified(text)
    }

    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        let quote = UInt8(ascii: "\"")
        return bytes.count >= 2 && bytes.first == quote && bytes.last == quote
            && !bytes.dropFirst().dropLast().contains(quote)
    }

    /// Returns whether a partial response belongs to this file.
    ///
    /// A 206 must have the entity tag that a 200 would have (RFC 9110 section 15.3.7); it may omit the date, which
    /// `If-Range` has compared.
    func holds(for fields: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let tag): fields[.eTag] == tag
        case .lastModified(let date): fields[.lastModified].map { $0 == date } ?? true
        }
    }
}

/// The address of a download and its user, reduced to what may be stored.
struct DownloadAddress: Codable, Hashable, Sendable {
    /// Scheme, host and path, without the query, which may contain credentials.
    let place: String
    /// The CRC-32C of the query, which reveals no secret; nil in records of earlier versions.
    let query: UInt32?
    /// A hash of the user's name; nil if there is none or it is unknown.
    let user: String?

    init(place: String, query: UInt32?, user: String? = nil) {
        self.place = place
        self.query = query
        self.user = user
    }

    init(_ head: HTTPRequest, for user: String?) {
        place = head.redactedURL
        let query = (head.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }
        self.query = CRC32C.checksum(Array(query))
        self.user = user.map { name in
            Hexadecimal.text(of: BLAKE2b.hash(Array(name.utf8), count: 16))
        }
    }
}

struct DownloadRecord: Codable, Hashable, Sendable {
    var address: String
    var query: UInt32?
    var user: String?
    var validator: StrongValidator?
    var total: Int64?

    var source: DownloadAddress { DownloadAddress(place: address, query: query, user: user) }

    static let kind = "KEELDWN1"
}

struct DownloadResponse: Hashable, Sendable {
    var status: HTTPResponse.Status
    var record: DownloadRecord
    var fields: HTTPFields
    var range: ContentRange?
    var isCoded: Bool
    var asked: Duration?

    init(_ head: HTTPResponse, address: DownloadAddress) {
        status = head.status
        fields = head.headerFields
        range = head.headerFields[.contentRange].flatMap { ContentRange($0) }
        asked = head.retryAfter
        let coding = head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
        isCoded = coding != "identity" && !coding.isEmpty
        record = DownloadRecord(
            address: address.place,
            query: address.query,
            user: address.user,
            validator: StrongValidator(head.headerFields),
            total: head.headerFields[.contentLength].flatMap { Int64($0) }
        )
    }
}
