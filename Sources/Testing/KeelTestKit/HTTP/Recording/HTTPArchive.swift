#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Exchanges in the HAR 1.2 format of browsers and proxies.
///
/// The format has no fields for the encoding of binary request bodies and for the code of a failed exchange. They are
/// stored in fields with a leading underscore, which the format permits.
public struct HTTPArchive: Codable, Sendable, Hashable {
    /// The root object of the file.
    public struct Log: Codable, Sendable, Hashable {
        /// The version of the format.
        public var version = "1.2"
        /// The program that wrote the file.
        public var creator = Creator()
        /// The exchanges, in the order in which they began.
        public var entries: [Entry] = []

        /// Creates an empty log.
        public init() {}
    }

    /// A program.
    public struct Creator: Codable, Sendable, Hashable {
        /// The program's name.
        public var name = "Keel"
        /// The program's version.
        public var version = "1"
        /// Creates the description of Keel.
        public init() {}
    }

    /// One exchange.
    public struct Entry: Codable, Sendable, Hashable {
        /// The start time, as RFC 3339 text.
        public var startedDateTime: String
        /// The duration in milliseconds.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response.
        public var response: Response
        /// The cache information, always empty.
        public var cache = Empty()
        /// The durations of the exchange's parts.
        public var timings: Timings
        /// The address of the peer.
        public var serverIPAddress: String?
        /// An identifier of the connection.
        public var connection: String?
        /// A note on parts missing from the entry.
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

    /// The durations of an exchange's parts, in milliseconds; -1 is unknown.
    public struct Timings: Codable, Sendable, Hashable {
        /// Sending the request.
        public var send: Double
        /// Waiting for the head of the response.
        public var wait: Double
        /// Reading the body.
        public var receive: Double
    }

    /// An archived request.
    public struct Request: Codable, Sendable, Hashable {
        /// The method.
        public var method: String
        /// The target.
        public var url: String
        /// The protocol.
        public var httpVersion: String
        /// The cookies, always empty because they are secrets.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The items of the query.
        public var queryString: [Pair]
        /// The body.
        public var postData: PostData?
        /// The size of the head, always unknown (-1).
        public var headersSize = -1
        /// The size of the body in bytes; -1 is unknown.
        public var bodySize: Int
    }

    /// A request body.
    public struct PostData: Codable, Sendable, Hashable {
        /// The content type.
        public var mimeType: String
        /// The text, or the bytes in base64.
        public var text: String
        /// `base64` if the body is not text.
        public var encoding: String?

        private enum CodingKeys: String, CodingKey {
            case mimeType, text
            case encoding = "_encoding"
        }
    }

    /// An archived response.
    public struct Response: Codable, Sendable, Hashable {
        /// The status; 0 if the exchange failed.
        public var status: Int
        /// The reason phrase.
        public var statusText: String
        /// The protocol.
        public var httpVersion: String
        /// The cookies, always empty because they are secrets.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair]
        /// The body.
        public var content: Content
        /// The target of a redirect.
        public var redirectURL: String
        /// The size of the head, always unknown (-1).
        public var headersSize = -1
        /// The size of the body in bytes; -1 is unknown.
        public var bodySize: Int
        /// The error code of a failed exchange.
        public var error: String?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL
            case headersSize, bodySize
            case error = "_error"
        }
    }

    /// A response body.
    public struct Content: Codable, Sendable, Hashable {
        /// The size in bytes.
        public var size: Int
        /// The content type.
        public var mimeType: String
        /// The text, or the bytes in base64.
        public var text: String?
        /// `base64` if the body is not text.
        public var encoding: String?
    }

    /// The root object of the file.
    public var log: Log

    /// Creates an archive of exchanges.
    public init(_ entries: [Entry] = []) {
        log = Log()
        log.entries = entries
    }

    /// Decodes an archive, ignoring fields of other programs.
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

    /// Encodes the archive as indented text with sorted keys, for readable diffs.
    ///
    /// - Throws: `EncodingError` if a time is not a number.
    public func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Writes the archive to a file atomically.
    ///
    /// - Throws: The error of the file system.
    public func write(to url: URL) throws {
        try data().write(to: url, options: .atomic)
    }
}
