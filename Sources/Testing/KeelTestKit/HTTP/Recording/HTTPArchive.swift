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
        package var version = "1.2"
        package var creator = Creator()
        /// The exchanges, in the order in which they began.
        public var entries: [Entry] = []
    }

    package struct Creator: Codable, Sendable, Hashable {
        package var name = "Keel"
        package var version = "1"
    }

    /// One exchange.
    public struct Entry: Codable, Sendable, Hashable {
        /// The start time, as RFC 3339 text.
        package var startedDateTime: String
        /// The duration in milliseconds.
        package var time: Double
        /// The request.
        public var request: Request
        /// The response.
        public var response: Response
        package var cache = Empty()
        package var timings: Timings
        package var serverIPAddress: String?
        package var connection: String?
        package var comment: String?
    }

    package struct Pair: Codable, Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package struct Empty: Codable, Sendable, Hashable {}

    /// The durations of an exchange's parts, in milliseconds; -1 is unknown.
    package struct Timings: Codable, Sendable, Hashable {
        package var send: Double
        package var wait: Double
        package var receive: Double
    }

    /// An archived request.
    public struct Request: Codable, Sendable, Hashable {
        /// The method.
        public var method: String
        /// The target.
        public var url: String
        package var httpVersion: String
        /// The cookies, always empty because they are secrets.
        package var cookies: [Pair] = []
        package var headers: [Pair]
        package var queryString: [Pair]
        package var postData: PostData?
        /// The size of the head, always unknown (-1).
        package var headersSize = -1
        /// The size of the body in bytes; -1 is unknown.
        package var bodySize: Int
    }

    package struct PostData: Codable, Sendable, Hashable {
        package var mimeType: String
        /// The text, or the bytes in base64.
        package var text: String
        package var encoding: String?

        private enum CodingKeys: String, CodingKey {
            case mimeType, text
            case encoding = "_encoding"
        }
    }

    /// An archived response.
    public struct Response: Codable, Sendable, Hashable {
        /// The status; 0 if the exchange failed.
        public var status: Int
        package var statusText: String
        package var httpVersion: String
        /// The cookies, always empty because they are secrets.
        package var cookies: [Pair] = []
        package var headers: [Pair]
        package var content: Content
        package var redirectURL: String
        /// The size of the head, always unknown (-1).
        package var headersSize = -1
        /// The size of the body in bytes; -1 is unknown.
        package var bodySize: Int
        /// The error code of a failed exchange.
        public var error: String?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL
            case headersSize, bodySize
            case error = "_error"
        }
    }

    package struct Content: Codable, Sendable, Hashable {
        package var size: Int
        package var mimeType: String
        /// The text, or the bytes in base64.
        package var text: String?
        package var encoding: String?
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
    /// - Throws: The error of the file system, or that of ``data()``.
    public func write(to url: URL) throws {
        try data().write(to: url, options: .atomic)
    }
}
