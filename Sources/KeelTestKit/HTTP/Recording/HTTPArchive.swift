#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Exchanges in the format HAR 1.2, which browsers and proxies write too.
///
/// What the format has no place for is in fields that begin with an underscore, as it allows:
/// the encoding of request bodies that are not text, and the code of an exchange that failed.
public struct HTTPArchive: Codable, Sendable, Hashable {
    /// The one object of the file.
    public struct Log: Codable, Sendable, Hashable {
        /// The version of the format.
        public var version = "1.2"
        /// Who wrote the file.
        public var creator = Creator()
        /// The exchanges, in the order in which they began.
        public var entries: [Entry] = []

        /// Creates an empty log.
        public init() {}
    }

    /// A program.
    public struct Creator: Codable, Sendable, Hashable {
        /// Its name.
        public var name = "Keel"
        /// Its version.
        public var version = "1"
        /// Creates the description of Keel.
        public init() {}
    }

    /// One exchange.
    public struct Entry: Codable, Sendable, Hashable {
        /// When it began, as RFC 3339 text.
        public var startedDateTime: String
        /// How long it took, in milliseconds.
        public var time: Double
        /// What was sent.
        public var request: Request
        /// What came back.
        public var response: Response
        /// What a cache did; always empty here.
        public var cache = Empty()
        /// How long its parts took.
        public var timings: Timings
        /// The address of the peer.
        public var serverIPAddress: String?
        /// Tells connections apart.
        public var connection: String?
        /// What is missing from the entry.
        public var comment: String?
    }

    /// A name and a value.
    public struct Pair: Codable, Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// An object without members.
    public struct Empty: Codable, Sendable, Hashable {}

    /// The parts of an exchange's time, in milliseconds; -1 is not known.
    public struct Timings: Codable, Sendable, Hashable {
        /// Sending the request.
        public var send: Double
        /// Waiting for the head of the response.
        public var wait: Double
        /// Reading the body.
        public var receive: Double
    }

    /// What was sent.
    public struct Request: Codable, Sendable, Hashable {
        /// The method.
        public var method: String
        /// The target.
        public var url: String
        /// The protocol.
        public var httpVersion: String
        /// Always empty: cookies are secrets.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The items of the query.
        public var queryString: [Pair]
        /// The body.
        public var postData: PostData?
        /// Not known.
        public var headersSize = -1
        /// How many bytes the body had; -1 is not known.
        public var bodySize: Int
    }

    /// A request body.
    public struct PostData: Codable, Sendable, Hashable {
        /// The content type.
        public var mimeType: String
        /// The text, or the bytes in base64.
        public var text: String
        /// `base64`, where the body is not text.
        public var encoding: String?

        private enum CodingKeys: String, CodingKey {
            case mimeType, text
            case encoding = "_encoding"
        }
    }

    /// What came back.
    public struct Response: Codable, Sendable, Hashable {
        /// The status; 0 where the exchange failed.
        public var status: Int
        /// The reason phrase.
        public var statusText: String
        /// The protocol.
        public var httpVersion: String
        /// Always empty: cookies are secrets.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The body.
        public var content: Content
        /// Where the response leads to.
        public var redirectURL: String
        /// Not known.
        public var headersSize = -1
        /// How many bytes the body had; -1 is not known.
        public var bodySize: Int
        /// The code of the failure of the exchange.
        public var error: String?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL
            case headersSize, bodySize
            case error = "_error"
        }
    }

    /// A response body.
    public struct Content: Codable, Sendable, Hashable {
        /// How many bytes it had.
        public var size: Int
        /// The content type.
        public var mimeType: String
        /// The text, or the bytes in base64.
        public var text: String?
        /// `base64`, where the body is not text.
        public var encoding: String?
    }

    /// The one object of the file.
    public var log: Log

    /// Creates an archive of exchanges.
    public init(_ entries: [Entry] = []) {
        log = Log()
        log.entries = entries
    }

    /// Reads an archive; other programs' fields are passed over.
    ///
    /// - Throws: `DecodingError` if the text is not HAR.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(Self.self, from: data)
    }

    /// Reads an archive from a file.
    ///
    /// - Throws: The error of the file system, or `DecodingError`.
    public init(contentsOf url: URL) throws {
        try self.init(data: Data(contentsOf: url))
    }

    /// The archive as text, indented and with sorted keys, so that changes show well in a diff.
    ///
    /// - Throws: `EncodingError`, for times that are no numbers.
    public func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Writes the archive to a file, whole or not at all.
    ///
    /// - Throws: The error of the file system.
    public func write(to url: URL) throws {
        try data().write(to: url, options: .atomic)
    }
}
